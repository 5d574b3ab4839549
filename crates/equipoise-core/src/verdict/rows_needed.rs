//! How many rows a verdict needs.

use super::smoothed_variance;
use crate::fairness::Condition;
use crate::interval::{Count, WorstGap, rows_per_group};
use crate::metrics::{Gap, Metrics};

/// A count whose rate has the largest variance.
pub(super) const EVEN: Count = Count { successes: 500_000, n: 1_000_000 };

/// At a variance of 0.5, what a gap needs that is 0.02 from the bound.
const MANY_ROWS: usize = 10_000;

/// Whether anyone would collect so many rows: at most [`MANY_ROWS`], or ten times the rows `found`. If not, the figure
/// lies practically on the bound.
pub(super) fn is_practical(rows: usize, found: usize) -> bool {
    rows <= MANY_ROWS.max(10 * found)
}

/// The rows of each condition in each group with which `gap`, the worst over `conditions`, can be judged.
pub(super) fn rows_for_gap(
    metrics: &Metrics,
    conditions: &[Condition],
    gap: &Gap,
    bound: f64,
) -> Option<usize> {
    if let ([_], [_, _]) = (conditions, &metrics.groups[..]) {
        return rows_per_group(gap.value, pair_variances(metrics, gap), bound);
    }
    let counts = |&condition: &Condition| -> Vec<Count> {
        metrics.groups.iter().map(|group| group.counts(condition)).collect()
    };
    WorstGap::rows_per_group(&conditions.iter().map(counts).collect::<Vec<_>>(), bound)
}

/// The variances of one decision in the two groups of a gap, among the rows of its condition.
fn pair_variances(metrics: &Metrics, gap: &Gap) -> (f64, f64) {
    let variance = |name: &String| {
        let group = metrics.groups.iter().find(|group| group.name == *name);
        group.map_or(0.25, |group| {
            let Count { successes, n } = group.counts(gap.condition);
            smoothed_variance(successes as f64, n as f64)
        })
    };
    (variance(&gap.groups[0]), variance(&gap.groups[1]))
}
