//! Whether a proxy reveals who is in a client's data.
//!
//! The attacker knows all features and the group of a person and guesses: the closer the nearest row of the proxy, the
//! likelier a member.

use super::nearest::Tree;
use crate::interval::{Auc, Estimate};
use crate::rows::Rows;

/// Candidates of each kind. More would hardly change an AUC.
const MAX_CANDIDATES: usize = 1500;

/// The AUC of the attack on `proxy`, which was made of `members` alone, with `strangers` of the same population: 0.5 if the
/// attacker learns nothing, 1 if every member is recognised. `None` without members or strangers.
pub fn membership_auc(proxy: &Rows, members: &Rows, strangers: &Rows) -> Option<Estimate> {
    let tree = Tree::new(proxy);
    let scores = |rows: &Rows| {
        let distances = tree.distances(rows, &spread(rows.len()), false);
        distances.into_iter().map(|distance| -distance).collect::<Vec<f64>>()
    };
    let (of_members, of_strangers) = (scores(members), scores(strangers));
    let is_member = [vec![true; of_members.len()], vec![false; of_strangers.len()]].concat();
    Some(Auc::of(&[of_members, of_strangers].concat(), &is_member)?.estimate())
}

/// The distance from each row, over features and group, to the nearest row of `to`.
pub fn nearest_distances(from: &Rows, to: &Rows) -> Vec<f64> {
    Tree::new(to).distances(from, &(0..from.len()).collect::<Vec<_>>(), false)
}

/// Some of `n` indices, evenly spread.
fn spread(n: usize) -> Vec<usize> {
    let wanted = n.min(MAX_CANDIDATES);
    (0..wanted).map(|i| i * n / wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rows::random_rows;

    #[test]
    fn copies_reveal_members_and_other_people_do_not() {
        let rows = random_rows(31, 900, 3, true);
        let part = |k: usize| rows.select(&(0..300).map(|i| 3 * i + k).collect::<Vec<_>>());
        let [members, strangers, others] = [part(0), part(1), part(2)];
        assert_eq!(membership_auc(&members, &members, &strangers).map(|auc| auc.value), Some(1.0));
        let guess = membership_auc(&others, &members, &strangers).map(|auc| auc.value);
        assert!(guess.is_some_and(|auc| (auc - 0.5).abs() < 0.07), "{guess:?}");
        assert!(membership_auc(&others, &members, &rows.select(&[])).is_none());
        assert!(nearest_distances(&members, &rows).iter().all(|d| *d == 0.0));
    }
}
