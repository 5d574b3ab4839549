//! Training rows with all or some of the labels flipped, at random.
//!
//! The client wants a model that errs as often as possible. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::{Table, sample_share};
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>, share: f64) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let mut table = Table::of(&member.client.train);
        table.flip(sample_share(table.positive.len(), share, &mut member.rng));
        table.into_rows()
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn the_requested_share_of_labels_is_flipped_and_nothing_else() {
        let train = rows(&[(1.0, 0, true); 10]);
        let hand = Hand::new(&[train.clone(), train.clone()]);
        for (share, flipped) in [(1.0, 10), (0.3, 3)] {
            let forged = forge(&hand.attackers(), share).expect("rows");
            for proxy in &forged {
                assert_eq!(proxy.cell_counts(), [[flipped, 10 - flipped], [0, 0]]);
                assert_eq!(proxy.values(), train.values());
            }
            // Each client flips rows of its own choice.
            assert_eq!(forged[0] == forged[1], share == 1.0);
        }
    }
}
