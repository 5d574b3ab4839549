//! How many rows a verdict needs.

use super::Z;
use super::distribution::normal_cdf;

/// How often the interval shall decide.
const POWER: f64 = 0.8;

/// The 80 % quantile of the standard normal distribution.
const POWER_QUANTILE: f64 = 0.841_621_233_572_914_2;

/// The 90 % quantile of the standard normal distribution.
const HALF_MISS_QUANTILE: f64 = 1.281_551_565_544_600_4;

/// More are no advice.
const MOST_ROWS: f64 = 1e9;

/// About how many rows a figure needs for its 95 % interval to exclude a bound at distance `margin`, in four of five
/// samples: `n = (z₀.₉₇₅ + z₀.₈)² variance / margin²`, where `variance` is that of the figure with one row. `None` if
/// the figure is so close to the bound that a billion rows would not do.
pub fn rows_to_exclude(margin: f64, variance: f64) -> Option<usize> {
    rows(Z + POWER_QUANTILE, margin, variance)
}

/// About how many rows each of two groups needs for the interval of `gap` to lie beyond `bound` or within `±bound`, in
/// four of five samples, if the gap and the groups' variances per row are those found. Rows outside the condition do
/// not count: equal opportunity needs this many positive rows. `None` if the gap is so close to the bound that a
/// billion rows would not do.
///
/// Beyond the bound, one end of the interval decides: see [`rows_to_exclude`]. Within, both ends must stay inside.
/// With an error of `e`, they do with probability `Φ((b − |gap|)/e − z) + Φ((b + |gap|)/e − z) − 1`, so a gap of 0
/// needs a third more rows than the one-sided formula says.
pub fn rows_per_group(gap: f64, variances: (f64, f64), bound: f64) -> Option<usize> {
    let variance = variances.0 + variances.1;
    let margin = bound - gap.abs();
    if margin <= 0.0 {
        return rows_to_exclude(margin, variance);
    }
    let decides = |errors: f64| stays_inside(errors, errors * (bound + gap.abs()) / margin);
    // The margin in units of the error: between the quantiles for one end and for two ends that miss equally often.
    let (mut low, mut high) = (Z + POWER_QUANTILE, Z + HALF_MISS_QUANTILE);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if decides(middle) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    rows(high, margin, variance)
}

/// The probability that both ends of an interval stay inside bounds that are so many errors away.
fn stays_inside(nearer: f64, farther: f64) -> f64 {
    normal_cdf(nearer - Z) + normal_cdf(farther - Z) - 1.0
}

/// As [`rows_per_group`], for the worst of several gaps: `conditions` have the rate and the variance per row of each group.
/// Beyond the bound, the widest pair decides. Within, every pair must stay inside: the probabilities that one does not are
/// added up, so these are a few rows more than needed.
pub(crate) fn rows_for_worst_gap(conditions: &[Vec<(f64, f64)>], bound: f64) -> Option<usize> {
    let of_condition = |groups: &Vec<(f64, f64)>| -> Vec<(f64, f64, f64)> {
        let pairs = (0..groups.len()).flat_map(|a| (0..a).map(move |b| (groups[a], groups[b])));
        pairs.map(|(a, b)| ((a.0 - b.0).abs(), a.1, b.1)).collect()
    };
    let pairs: Vec<(f64, f64, f64)> = conditions.iter().flat_map(of_condition).collect();
    let worst = pairs.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let for_two = rows_per_group(worst.0, (worst.1, worst.2), bound)?;
    if pairs.len() == 1 || worst.0 >= bound {
        return Some(for_two);
    }
    let decides = |rows: f64| {
        let misses = pairs.iter().map(|(gap, a, b)| {
            let error = ((a + b) / rows).sqrt();
            1.0 - stays_inside((bound - gap) / error, (bound + gap) / error)
        });
        misses.sum::<f64>() <= 1.0 - POWER
    };
    // Two groups need fewer rows; k groups with the same margins need a few times as many.
    let (mut few, mut enough) = (for_two as f64, for_two as f64);
    while !decides(enough) {
        few = enough;
        enough *= 1.5;
        if enough > MOST_ROWS {
            return None;
        }
    }
    for _ in 0..12 {
        let middle = 0.5 * (few + enough);
        if decides(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    Some(enough.ceil() as usize)
}

/// The rows with which `margin` is `errors` standard errors.
fn rows(errors: f64, margin: f64, variance: f64) -> Option<usize> {
    let factor = errors / margin;
    let rows = (factor * factor * variance).ceil().max(1.0);
    (rows <= MOST_ROWS).then_some(rows as usize)
}
