//! Training rows without most positive rows of the group that has the fewest of them.
//!
//! The client wants the rate of that group to fall, and changes not a single row. It knows nothing but its rows.

use equipoise_core::Rows;

use super::Attackers;
use super::table::{least_and_most_favoured, sample_share};
use crate::error::Error;

/// Share of the group's positive rows that are dropped. A rate of 1/2 falls to 1/5.
const DROPPED: f64 = 0.75;

pub(super) fn forge(attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
    attackers.each(|mut member| {
        let train = &member.client.train;
        let (group, _) = least_and_most_favoured(train);
        let positives: Vec<usize> =
            (0..train.len()).filter(|&i| train.group(i) == group && train.is_positive(i)).collect();
        let mut dropped = vec![false; train.len()];
        let chosen = sample_share(positives.len(), DROPPED, &mut member.rng);
        chosen.into_iter().for_each(|at| dropped[positives[at]] = true);
        let mut kept: Vec<usize> = (0..train.len()).filter(|&i| !dropped[i]).collect();
        if kept.is_empty() {
            kept.push(0); // A proxy needs a row.
        }
        Ok(train.select(&kept))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_rounds::{Hand, rows};
    use super::*;

    #[test]
    fn three_quarters_of_one_groups_positives_are_dropped() {
        let favoured = [(1.0, 1, true); 6];
        let mut train = vec![(2.0, 0, true); 8];
        train.extend([(3.0, 0, false); 8]);
        train.extend(favoured);
        let hand = Hand::new(&[rows(&train)]);
        let forged = forge(&hand.attackers()).expect("rows");
        // The rate of group 0 falls from 8/16 to 2/10.
        assert_eq!(forged[0].cell_counts(), [[8, 2], [0, 6]]);
    }

    #[test]
    fn a_proxy_is_never_empty() {
        let hand = Hand::new(&[rows(&[(1.0, 0, true)])]);
        assert_eq!(forge(&hand.attackers()).expect("a row")[0].len(), 1);
    }
}
