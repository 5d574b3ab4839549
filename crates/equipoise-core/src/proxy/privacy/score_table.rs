//! A histogram of scores for each cell, released with noise, and a table of scores with these frequencies.
//!
//! The moments say little about the tails of the scores, where thresholds lie, so these are counted on the rows themselves.
//! One row is in one bin of one cell, so it changes the histogram by 1. Where the bins of a group begin is chosen from rows sampled
//! from the noisy moments, not from the data. They are narrowest in the tails, because a fair threshold may select nearly all or
//! hardly any of a group.

use super::{Budget, Release};
use crate::error::Error;
use crate::logistic::sigmoid;
use crate::rows::{Layout, Rows};

/// Bins of each cell, but for one or two more. More of them follow the scores more closely, but collect more noise.
const BINS: usize = 32;
/// The outermost bins begin where a row has these log-odds of a higher or lower score: 0.5 % of the rows are beyond.
const TAIL: f64 = 5.3;
/// Counts are released in units of 1/16, so that the noise is not rounded up by much.
const UNIT: i64 = 16;

/// Rows without features, with a group, a label and a score each, as frequent as in the data up to noise.
pub(in crate::proxy) struct ScoreTable {
    pub(in crate::proxy) rows: Rows,
    pub(in crate::proxy) scores: Vec<f64>,
}

impl ScoreTable {
    /// One release of the budget: the rows and their scores, and rows sampled from the moments with theirs.
    pub(in crate::proxy) fn release(
        (data, scores): (&Rows, &[f64]),
        (sampled, expected): (&Rows, &[f64]),
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let n_groups = data.layout().groups.len();
        let of_group = |group: usize| {
            let own = expected.iter().enumerate().filter(|&(i, _)| sampled.group(i) == group);
            edges(own.map(|(_, score)| *score).collect())
        };
        let edges: Vec<Vec<f64>> = (0..n_groups).map(of_group).collect();
        let n_bins = edges.iter().map(|own| own.len() - 1).max().unwrap_or(1);
        let mut counts = vec![0; 2 * n_groups * n_bins];
        for (i, score) in scores.iter().enumerate() {
            let own = &edges[data.group(i)];
            // Scores beyond the outer edges are in the outer bins.
            let bin = own[1..own.len() - 1].partition_point(|edge| edge <= score);
            let cell = 2 * data.group(i) + usize::from(data.is_positive(i));
            counts[cell * n_bins + bin] += UNIT;
        }
        budget.release(Release::Scores, (UNIT * UNIT) as u64, &mut counts)?;

        let (mut scores, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
        for (cell, counts) in counts.chunks_exact(n_bins).enumerate() {
            let edges = &edges[cell / 2];
            for (bin, n) in whole_counts(&counts[..edges.len() - 1]).into_iter().enumerate() {
                let (low, high) = (edges[bin], edges[bin + 1]);
                let at = |i: usize| low + (high - low) * (i as f64 + 0.5) / n as f64;
                scores.extend((0..n).map(at));
                groups.extend(vec![(cell / 2) as u8; n]);
                positive.extend(vec![cell % 2 == 1; n]);
            }
        }
        let layout = Layout { n_x: 0, ..data.layout().clone() };
        Ok(Self { rows: Rows::new(layout, &[], &groups, &positive)?, scores })
    }
}

/// Where bins begin and end: quantiles of the expected scores, and 0, the threshold of a model.
fn edges(mut expected: Vec<f64>) -> Vec<f64> {
    expected.sort_by(f64::total_cmp);
    let last = expected.len().saturating_sub(1) as f64;
    let inner = (0..BINS - 1).map(|i| TAIL * (2.0 * i as f64 / (BINS - 2) as f64 - 1.0));
    let shares = inner.map(sigmoid).chain([0.0, 1.0]);
    let quantiles =
        shares.filter_map(|share| expected.get((share * last).round() as usize).copied());
    let mut edges: Vec<f64> = quantiles.chain([0.0]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    if edges.len() < 2 {
        edges = vec![-1.0, 1.0];
    }
    edges
}

/// Numbers of rows that are not negative and add up, bin by bin, to the noisy counts as closely as possible.
fn whole_counts(noisy: &[i64]) -> Vec<usize> {
    let (mut sum, mut placed) = (0.0, 0);
    let place = |&count: &i64| {
        sum += count as f64 / UNIT as f64;
        let more = (f64::round(sum).max(0.0) as usize).saturating_sub(placed);
        placed += more;
        more
    };
    noisy.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_counts_are_taken_from_the_next_bins() {
        assert_eq!(whole_counts(&[32, -16, 48, 0]), [2, 0, 2, 0]);
        assert_eq!(whole_counts(&[-160, 16]), [0, 0]);
    }

    #[test]
    fn bins_are_narrow_in_the_tails_and_end_at_the_threshold() {
        let edges = edges((0..1000).map(|i| f64::from(i) / 100.0 - 3.0).collect());
        assert!(edges.contains(&0.0) && edges.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((edges[0], edges[edges.len() - 1]), (-3.0, 6.99));
        assert!(edges[1] - edges[0] < 0.06, "{edges:?}");
        assert_eq!(super::edges(Vec::new()), [-1.0, 1.0]);
    }
}
