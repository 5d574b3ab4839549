//! How many rows a verdict needs.

use super::Z;

/// The 80 % quantile of the standard normal distribution.
const POWER: f64 = 0.841_621_233_572_914_2;

/// About how many rows each of two groups needs for the interval of `gap` to exclude `bound`, in four of five
/// samples: `n = (z₀.₉₇₅ + z₀.₈)² (v_a + v_b) / (|gap| − bound)²`, if the gap and the groups' variances per row are
/// those found. Rows outside the condition do not count: equal opportunity needs this many positive rows. `None` if
/// the gap is so close to the bound that a billion rows would not do.
pub fn rows_per_group(gap: f64, variances: (f64, f64), bound: f64) -> Option<usize> {
    let margin = gap.abs() - bound;
    let factor = (Z + POWER) / margin;
    let rows = (factor * factor * (variances.0 + variances.1)).ceil().max(1.0);
    (rows <= 1e9).then_some(rows as usize)
}
