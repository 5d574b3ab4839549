//! How many rows a verdict needs.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Z;
use super::distribution::normal_cdf;

/// Simulated samples of several groups: the power of 80 % is met to about 0.6 points.
const SAMPLES: usize = 4000;

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
    let ratio = (bound + gap.abs()) / margin;
    let decides = |errors: f64| normal_cdf(errors - Z) + normal_cdf(errors * ratio - Z) - 1.0;
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

/// As [`rows_per_group`], for the worst of several gaps: `conditions` have the rate and the variance per row of each group.
/// Beyond the bound, the widest pair decides. Within, every pair must stay inside, which simulated normal errors find out.
pub(crate) fn rows_for_worst_gap(conditions: &[Vec<(f64, f64)>], bound: f64) -> Option<usize> {
    let pairs: Vec<Pair> = all_pairs(conditions);
    let worst = pairs.iter().reduce(|a, b| if b.gap.abs() > a.gap.abs() { b } else { a })?;
    let for_two = rows_per_group(worst.gap, worst.variances, bound)?;
    if pairs.len() == 1 || worst.gap.abs() >= bound {
        return Some(for_two);
    }
    let n_cells = conditions.iter().map(Vec::len).sum();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let samples: Vec<Vec<f64>> = (0..SAMPLES)
        .map(|_| (0..n_cells).map(|_| StandardNormal.sample(&mut rng)).collect())
        .collect();
    let decides = |rows: f64| {
        let is_inside = |sample: &&Vec<f64>| {
            pairs.iter().all(|pair| {
                let (a, b) = (pair.variances.0 / rows, pair.variances.1 / rows);
                let gap =
                    pair.gap + a.sqrt() * sample[pair.cells.0] - b.sqrt() * sample[pair.cells.1];
                gap.abs() + Z * (a + b).sqrt() <= bound
            })
        };
        samples.iter().filter(is_inside).count() as f64 >= POWER * SAMPLES as f64
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

/// Two groups under the same condition.
struct Pair {
    cells: (usize, usize),
    gap: f64,
    variances: (f64, f64),
}

fn all_pairs(conditions: &[Vec<(f64, f64)>]) -> Vec<Pair> {
    let (mut pairs, mut first) = (Vec::new(), 0);
    for groups in conditions {
        for (a, left) in groups.iter().enumerate() {
            for (b, right) in groups.iter().enumerate().skip(a + 1) {
                pairs.push(Pair {
                    cells: (first + a, first + b),
                    gap: left.0 - right.0,
                    variances: (left.1, right.1),
                });
            }
        }
        first += groups.len();
    }
    pairs
}

/// The rows with which `margin` is `errors` standard errors.
fn rows(errors: f64, margin: f64, variance: f64) -> Option<usize> {
    let factor = errors / margin;
    let rows = (factor * factor * variance).ceil().max(1.0);
    (rows <= MOST_ROWS).then_some(rows as usize)
}
