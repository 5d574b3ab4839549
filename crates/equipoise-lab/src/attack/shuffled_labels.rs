//! Training rows with their labels shuffled among all rows.
//!
//! The client wants to make the model useless without changing how many labels are positive. It knows nothing but its
//! rows.

use equipoise_core::Rows;
use rand::seq::SliceRandom;

use super::Attackers;
use super::table::Table;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let mut table = Table::of(&member.client.train);
        table.positive.shuffle(&mut member.rng);
        table.into_rows()
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};

    #[test]
    fn the_number_of_positive_labels_stays_and_their_rows_change() {
        // Before, a row is positive if and only if it is in group 1.
        let mut train = vec![(1.0, 0, false); 500];
        train.extend([(2.0, 1, true); 500]);
        let train = rows(&train);
        let hand = Hand::new(std::slice::from_ref(&train));
        let forged = &super::forge(&hand.attackers()).expect("rows")[0];
        assert_eq!(forged.values(), train.values());
        let cells = forged.cell_counts();
        assert_eq!(cells[0][1] + cells[1][1], 500);
        // Hypergeometric with mean 250 and deviation 7.9.
        assert!(cells[0][1].abs_diff(250) < 40, "{cells:?}");
    }
}
