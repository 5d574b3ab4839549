//! Labels drawn from a model: row `i` is positive with probability `σ(a_i·θ)`.
//!
//! Systematic sampling along the score, group by group, makes the number of positive rows of every group, and among any of
//! its highest scores, equal to the expected number up to one row. So little is left to do for the model to be the
//! minimiser of the rows' loss.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::logistic::sigmoid;

/// The generator's stream of random numbers, one that no block of sampled rows has.
const STREAM: u64 = u64::MAX;

/// Whether each row is positive, given its score and group. A group of at least two rows gets both labels, because
/// otherwise its best coefficient would be infinite.
pub(super) fn draw_labels(scores: &[f64], groups: &[u8], n_groups: usize, seed: u64) -> Vec<bool> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(STREAM);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    groups.iter().enumerate().for_each(|(i, &group)| members[usize::from(group)].push(i));
    let mut positive = vec![false; scores.len()];
    for mut own in members {
        let mut sum: f64 = rng.random();
        own.par_sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(a.cmp(&b)));
        let mut drawn = 0;
        for &i in &own {
            let next = sum + sigmoid(scores[i]);
            positive[i] = next.floor() > sum.floor();
            drawn += usize::from(positive[i]);
            sum = next;
        }
        if let (2.., [lowest, .., highest]) = (own.len(), &own[..]) {
            if drawn == 0 {
                positive[*highest] = true;
            } else if drawn == own.len() {
                positive[*lowest] = false;
            }
        }
    }
    positive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact_to_a_row_in_every_group_and_above_every_score() {
        let n = 4001;
        let scores: Vec<f64> = (0..n).map(|i| 3.0 * (f64::from(i) * 0.7).sin() - 0.4).collect();
        let groups: Vec<u8> = (0..n).map(|i| u8::from(i % 3 == 0) + u8::from(i % 7 == 0)).collect();
        let positive = draw_labels(&scores, &groups, 3, 5);
        for group in 0..3 {
            for lowest in [-10.0, -2.0, 0.0, 1.5] {
                let members =
                    (0..scores.len()).filter(|&i| groups[i] == group && scores[i] >= lowest);
                let members: Vec<usize> = members.collect();
                let expected: f64 = members.iter().map(|&i| sigmoid(scores[i])).sum();
                let found = members.iter().filter(|&&i| positive[i]).count() as f64;
                assert!(
                    (found - expected).abs() <= 1.0 + 1e-9,
                    "{group}, {lowest}: {found}, {expected}"
                );
            }
        }
        assert_eq!(positive, draw_labels(&scores, &groups, 3, 5));
        assert_ne!(positive, draw_labels(&scores, &groups, 3, 6));
    }

    #[test]
    fn a_group_of_two_rows_gets_both_labels() {
        for scores in [[-20.0, -21.0], [20.0, 21.0]] {
            for seed in 0..5 {
                let positive = draw_labels(&scores, &[0, 0], 2, seed);
                assert_ne!(positive[0], positive[1]);
            }
        }
        assert_eq!(draw_labels(&[30.0], &[1], 2, 1), [true]);
    }
}
