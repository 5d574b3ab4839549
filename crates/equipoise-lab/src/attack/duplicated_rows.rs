//! Training rows as they are, each sent ten times.
//!
//! The client wants to outweigh the others wherever rows are counted. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use crate::error::Error;

const COPIES: usize = 10;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| {
        let train = &member.client.train;
        let order: Vec<usize> = (0..COPIES * train.len()).map(|i| i % train.len()).collect();
        Ok(train.select(&order))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn every_row_is_sent_ten_times() {
        let train = [(1.0, 0, true), (2.0, 1, false)];
        let hand = Hand::new(&[rows(&train)]);
        let forged = super::forge(&hand.attackers()).expect("rows");
        assert_eq!(forged, [rows(&train.repeat(10))]);
    }
}
