//! How many rows a verdict needs.

use crate::fairness::Condition;
use crate::interval::{Count, WorstGap};
use crate::metrics::Metrics;

/// A count whose rate has the largest variance.
pub(super) const EVEN: Count = Count { successes: 500_000, n: 1_000_000 };

/// At a variance of 0.5, what a gap needs that is 0.02 from the bound.
const MANY_ROWS: usize = 10_000;

/// Whether anyone would collect so many rows: at most [`MANY_ROWS`], or ten times the rows `found`. If not, the figure
/// lies practically on the bound.
pub(super) fn is_practical(rows: usize, found: usize) -> bool {
    rows <= MANY_ROWS.max(10 * found)
}

/// The rows of each condition in each group with which the worst gap over `conditions` can be judged.
pub(super) fn rows_for_gap(
    metrics: &Metrics,
    conditions: &[Condition],
    bound: f64,
) -> Option<usize> {
    let counts = |&condition: &Condition| -> Vec<Count> {
        metrics.groups.iter().map(|group| group.counts(condition)).collect()
    };
    WorstGap::rows_per_group(&conditions.iter().map(counts).collect::<Vec<_>>(), bound)
}
