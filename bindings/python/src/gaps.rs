//! Rates of groups, their differences and ratios, with 95 % intervals.

use equipoise_core::{Count, Estimate, WorstGap, rate_ratio};
use pyo3::prelude::*;

/// Value and 95 % interval.
type Interval = (f64, f64, f64);

/// The rate of each group, the rate of all rows, the largest difference between two groups, and the lowest rate as a share
/// of the highest, from the successes and rows of each group. A figure is `None` if no row decides it.
#[pyfunction]
pub(crate) fn gap_figures(
    cells: Vec<(usize, usize)>,
) -> (Vec<Option<Interval>>, Option<Interval>, Option<Interval>, Option<Interval>) {
    let counts: Vec<Count> =
        cells.into_iter().map(|(successes, n)| Count { successes, n }).collect();
    let rates = counts.iter().map(|count| count.rate().map(interval)).collect();
    let all = counts.iter().fold(Count { successes: 0, n: 0 }, |sum, count| Count {
        successes: sum.successes + count.successes,
        n: sum.n + count.n,
    });
    let difference =
        WorstGap::of(std::slice::from_ref(&counts), 0).map(|worst| interval(worst.gap.abs()));
    (rates, all.rate().map(interval), difference, ratio(&counts))
}

fn ratio(counts: &[Count]) -> Option<Interval> {
    let measured: Vec<Count> = counts.iter().copied().filter(|count| count.n > 0).collect();
    let share = |count: &Count| count.successes as f64 / count.n as f64;
    let by_share = |a: &&Count, b: &&Count| share(a).total_cmp(&share(b));
    let lowest = measured.iter().min_by(by_share)?;
    let highest = measured.iter().max_by(by_share)?;
    let ratio = rate_ratio(*lowest, *highest).filter(|_| measured.len() >= 2)?;
    // Above 1 the other group would have the lowest rate.
    Some(interval(Estimate { high: ratio.high.min(1.0), ..ratio }))
}

fn interval(estimate: Estimate) -> Interval {
    (estimate.value, estimate.low, estimate.high)
}
