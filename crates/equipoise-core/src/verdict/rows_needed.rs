//! How many rows a verdict needs.

use super::smoothed_variance;
use crate::interval::Count;
use crate::interval::rows_per_group;
use crate::metrics::{Gap, Metrics};

/// The largest variance of one decision.
pub(crate) const MAX_VARIANCE: f64 = 0.25;

/// About how many rows a figure needs for its 95 % interval to exclude a bound at distance `margin`, in four of five
/// samples, if figure and variance stay as they are. `variance` is that of the figure with one row, or with one row per
/// group for a difference. `None` if no practical number suffices.
pub(crate) fn rows_needed(margin: f64, variance: f64) -> Option<usize> {
    rows_per_group(margin, (variance, 0.0), 0.0)
}

/// As [`rows_needed`], but `None` if nobody would collect that many: more than [`MANY_ROWS`], and more than ten times the
/// rows `found`. The figure then lies practically on the bound.
pub(crate) fn practical_rows_needed(margin: f64, variance: f64, found: usize) -> Option<usize> {
    rows_needed(margin, variance).filter(|&rows| rows <= MANY_ROWS.max(10 * found))
}

/// At a variance of 0.5, what a gap needs that is 0.02 from the bound.
const MANY_ROWS: usize = 10_000;

/// The variance of a gap with one row of its condition in each of its two groups.
pub(crate) fn pair_variance(metrics: &Metrics, gap: &Gap) -> f64 {
    let variance = |name: &String| {
        let group = metrics.groups.iter().find(|group| group.name == *name);
        group.map_or(MAX_VARIANCE, |group| {
            let Count { successes, n } = group.counts(gap.condition);
            smoothed_variance(successes as f64, n as f64)
        })
    };
    gap.groups.iter().map(variance).sum()
}
