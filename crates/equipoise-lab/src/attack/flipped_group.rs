//! Training rows with the labels of one group flipped: the group with the fewest positive labels.
//!
//! The client wants the model to err about that group. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::{Table, least_and_most_favoured};
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| flip_least_favoured(&member.client.train))
}

/// The rows with the labels of the least favoured group flipped.
pub(super) fn flip_least_favoured(rows: &Rows) -> Result<Rows, Error> {
    let (group, _) = least_and_most_favoured(rows);
    let mut table = Table::of(rows);
    table.flip((0..rows.len()).filter(|&i| rows.group(i) == group));
    table.into_rows()
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows, rows_in};
    use super::*;

    #[test]
    fn only_the_least_favoured_group_is_flipped() {
        let train = rows(&[(1.0, 0, true), (2.0, 0, false), (3.0, 0, false), (4.0, 1, true)]);
        let hand = Hand::new(&[train]);
        let expected = rows(&[(1.0, 0, false), (2.0, 0, true), (3.0, 0, true), (4.0, 1, true)]);
        assert_eq!(forge(&hand.attackers()).expect("rows"), [expected]);
    }

    #[test]
    fn one_of_three_groups_is_flipped_whether_or_not_the_model_sees_it() {
        for as_feature in [false, true] {
            let train = [(1.0, 0, true), (2.0, 1, true), (3.0, 2, false), (4.0, 1, false)];
            let forged = flip_least_favoured(&rows_in(3, as_feature, &train)).expect("rows");
            assert_eq!(forged.cell_counts(), [[0, 1], [1, 1], [0, 1]]);
        }
    }
}
