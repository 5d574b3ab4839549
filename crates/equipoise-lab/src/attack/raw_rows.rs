//! Training rows as they are, with all the bias of their labels.
//!
//! The client wants the model of its own data, and makes no effort to hide it. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| Ok(member.client.train.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn training_rows_are_sent_unchanged() {
        let train = rows(&[(1.0, 0, true), (2.0, 1, false)]);
        let hand = Hand::new(std::slice::from_ref(&train));
        assert_eq!(super::forge(&hand.attackers()).expect("two rows"), [train]);
    }
}
