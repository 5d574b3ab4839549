//! How many rows a verdict needs.

use super::smoothed_variance;
use crate::interval::Count;
use crate::metrics::{Gap, Metrics};

/// The largest variance of one decision.
pub(crate) const MAX_VARIANCE: f64 = 0.25;

/// At a variance of 0.5, what a gap needs that is 0.02 from the bound.
const MANY_ROWS: usize = 10_000;

/// Whether anyone would collect so many rows: at most [`MANY_ROWS`], or ten times the rows `found`. If not, the figure
/// lies practically on the bound.
pub(crate) fn is_practical(rows: usize, found: usize) -> bool {
    rows <= MANY_ROWS.max(10 * found)
}

/// The variances of one decision in the two groups of a gap, among the rows of its condition.
pub(crate) fn pair_variances(metrics: &Metrics, gap: &Gap) -> (f64, f64) {
    let variance = |name: &String| {
        let group = metrics.groups.iter().find(|group| group.name == *name);
        group.map_or(MAX_VARIANCE, |group| {
            let Count { successes, n } = group.counts(gap.condition);
            smoothed_variance(successes as f64, n as f64)
        })
    };
    (variance(&gap.groups[0]), variance(&gap.groups[1]))
}
