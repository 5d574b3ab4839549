//! Training rows with their groups swapped; of more than two groups, each row moves to the next one.
//!
//! The client wants fairness towards one group to become unfairness towards the other. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::Table;
use crate::error::Error;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|member| {
        let mut table = Table::of(&member.client.train);
        swap(&mut table);
        table.into_rows()
    })
}

/// Moves every row to the next group.
pub(super) fn swap(table: &mut Table) {
    let n_groups = table.layout.groups.len();
    let next = |group: u8| ((usize::from(group) + 1) % n_groups) as u8;
    table.groups.iter_mut().for_each(|group| *group = next(*group));
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows, rows_in};
    use super::*;

    #[test]
    fn two_groups_are_swapped() {
        let hand = Hand::new(&[rows(&[(1.0, 0, true), (2.0, 1, false)])]);
        let expected = rows(&[(1.0, 1, true), (2.0, 0, false)]);
        assert_eq!(forge(&hand.attackers()).expect("rows"), [expected]);
    }

    #[test]
    fn three_groups_are_rotated() {
        for as_feature in [false, true] {
            let train = [(1.0, 0, true), (2.0, 1, false), (3.0, 2, true)];
            let hand = Hand::new(&[rows_in(3, as_feature, &train)]);
            let expected = [(1.0, 1, true), (2.0, 2, false), (3.0, 0, true)];
            let expected = rows_in(3, as_feature, &expected);
            assert_eq!(forge(&hand.attackers()).expect("rows"), [expected]);
        }
    }
}
