//! The client's own honest proxy with 30 % of the labels flipped, at random.
//!
//! The client wants to look fair and be less useful. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::{Table, sample_share};
use crate::error::Error;

const FLIPPED: f64 = 0.3;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let mut table = Table::of(member.honest);
        table.flip(sample_share(table.positive.len(), FLIPPED, &mut member.rng));
        table.into_rows()
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn three_labels_in_ten_of_the_honest_proxy_are_flipped() {
        let honest = rows(&[(2.0, 1, true); 20]);
        let hand = Hand::new(&[rows(&[(1.0, 0, true)])]).with_honest(std::slice::from_ref(&honest));
        let forged = &super::forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.cell_counts(), [[0, 0], [6, 14]]);
        assert_eq!(forged.values(), honest.values());
    }
}
