//! Rates from counts: their intervals, differences, ratios and means of two.
//!
//! Limits of a rate are Wilson's, and those of differences, ratios and means combine them. With one or two rows
//! Wilson's limits are too narrow: they miss the rate more than 7 % of the time at 27 % of all rates, and up to 20 % of
//! the time. A difference to a rate of 30 rows misses more than 7 % of the time at 33 % (one row) or 10 % (two rows) of
//! all pairs of rates. There the limits are the exact binomial ones with mid-p, which miss at most 5 %.

use serde::{Deserialize, Serialize};

use super::distribution::normal_cdf;
use super::{Estimate, Z};

/// A count of fewer rows has exact limits.
const FEW_ROWS: usize = 3;

/// How many of `n` rows are successes: selected, correct, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Successes, at most `n`.
    pub successes: usize,
    /// Rows.
    pub n: usize,
}

impl Count {
    /// Counts the `true`s.
    pub fn of(outcomes: impl IntoIterator<Item = bool>) -> Self {
        outcomes.into_iter().fold(Self { successes: 0, n: 0 }, |count, outcome| Self {
            successes: count.successes + usize::from(outcome),
            n: count.n + 1,
        })
    }

    /// The rate with its interval; `None` over no rows.
    pub fn rate(&self) -> Option<Estimate> {
        let count = self.checked()?;
        let (low, high) = count.limits(Z);
        Some(Estimate { value: count.share(), low, high })
    }

    /// `None` over no rows.
    pub(crate) fn checked(&self) -> Option<Self> {
        (self.n > 0).then_some(Self { successes: self.successes.min(self.n), n: self.n })
    }

    pub(crate) fn share(&self) -> f64 {
        self.successes as f64 / self.n as f64
    }

    /// The limits of the rate at a critical value of the normal distribution.
    pub(crate) fn limits(&self, critical: f64) -> (f64, f64) {
        if self.n < FEW_ROWS {
            let tail = normal_cdf(-critical);
            let low = 1.0 - mid_p_upper(self.n - self.successes, self.n, tail);
            return (low, mid_p_upper(self.successes, self.n, tail));
        }
        wilson_limits(self.share(), self.n as f64, critical)
    }
}

/// `a − b` for independent rates: Newcombe's hybrid score interval. `None` if either has no rows.
pub fn rate_difference(a: Count, b: Count) -> Option<Estimate> {
    let (a, b) = (a.checked()?, b.checked()?);
    let (low, high) = newcombe_limits(a, b, Z);
    Some(Estimate { value: a.share() - b.share(), low, high })
}

/// `a / b` for independent rates, by Donner and Zou's MOVER-R with the limits of both rates. `None` if either has no rows,
/// or if no row of `b` is a success: the ratio is then undefined.
pub fn rate_ratio(a: Count, b: Count) -> Option<Estimate> {
    rate_ratio_at(a, b, Z)
}

/// [`rate_ratio`] at a critical value of the normal distribution.
pub(crate) fn rate_ratio_at(a: Count, b: Count, critical: f64) -> Option<Estimate> {
    let (a, b) = (a.checked()?, b.checked()?);
    if b.successes == 0 {
        return None;
    }
    let (p, q) = (a.share(), b.share());
    let ((p_low, p_high), (q_low, q_high)) = (a.limits(critical), b.limits(critical));
    let product = p * q;
    let root = |p_limit: f64, q_limit: f64| {
        let removed = p_limit * q_limit * (2.0 * p - p_limit) * (2.0 * q - q_limit);
        (product * product - removed).max(0.0).sqrt()
    };
    // The lower limit is written so that nothing is divided by 2q − q_high, which can be 0 or negative.
    let low = if a.successes == 0 {
        0.0
    } else {
        p_low * (2.0 * p - p_low) / (product + root(p_low, q_high))
    };
    let high = (product + root(p_high, q_low)) / (q_low * (2.0 * q - q_low));
    Some(Estimate { value: p / q, low: low.max(0.0), high })
}

/// The mean of the true positive and the true negative rate, by MOVER with the limits of both rates. `None` if there are no
/// positive or no negative rows.
pub fn balanced_accuracy(positives: Count, negatives: Count) -> Option<Estimate> {
    let (a, b) = (positives.checked()?, negatives.checked()?);
    let (p, q) = (a.share(), b.share());
    let ((p_low, p_high), (q_low, q_high)) = (a.limits(Z), b.limits(Z));
    let value = (p + q) / 2.0;
    Some(Estimate {
        value,
        low: value - (p - p_low).hypot(q - q_low) / 2.0,
        high: value + (p_high - p).hypot(q_high - q) / 2.0,
    })
}

/// The largest difference, of either sign, in the interval of two groups of `first` and `second` rows that both have the
/// rate of `all`.
pub(crate) fn equal_rates_margin(all: Count, first: usize, second: usize) -> f64 {
    let rate = all.share();
    let limits = |n: usize| wilson_limits(rate, n as f64, Z);
    let upper = |a: usize, b: usize| square_and_add(rate, limits(a), rate, limits(b)).1;
    upper(first, second).max(upper(second, first))
}

/// Newcombe's limits of `a − b` at a critical value.
pub(crate) fn newcombe_limits(a: Count, b: Count, critical: f64) -> (f64, f64) {
    let ((a_low, a_high), (b_low, b_high)) = (a.limits(critical), b.limits(critical));
    square_and_add(a.share(), (a_low, a_high), b.share(), (b_low, b_high))
}

/// The limits of `a − b` from the limits of both: each end moves by the root of the summed squares.
pub(crate) fn square_and_add(
    a: f64,
    (a_low, a_high): (f64, f64),
    b: f64,
    (b_low, b_high): (f64, f64),
) -> (f64, f64) {
    let difference = a - b;
    (difference - (a - a_low).hypot(b_high - b), difference + (a_high - a).hypot(b - b_low))
}

/// The rates `π` with `(p − π)² = critical² π (1 − π) / n`. `n` need not be whole.
pub(crate) fn wilson_limits(p: f64, n: f64, critical: f64) -> (f64, f64) {
    let square = critical * critical;
    let centre = (n * p + square / 2.0) / (n + square);
    let half = critical / (n + square) * (n * p * (1.0 - p) + square / 4.0).max(0.0).sqrt();
    // Rounding must not move the limits past 0, 1 or the rate itself.
    let low = if p <= 0.0 { 0.0 } else { (centre - half).clamp(0.0, p) };
    let high = if p >= 1.0 { 1.0 } else { (centre + half).clamp(p, 1.0) };
    (low, high)
}

/// The rate at which `P(fewer successes) + P(as many) / 2 = tail`, by bisection; 1 if all are successes.
fn mid_p_upper(successes: usize, n: usize, tail: f64) -> f64 {
    if successes == n {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    // 54 halvings reach the spacing of numbers below 1.
    for _ in 0..54 {
        let middle = (low + high) / 2.0;
        if mid_p(successes, n, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// `P(fewer successes) + P(as many) / 2` for a binomial count with `0 < p < 1`.
fn mid_p(successes: usize, n: usize, p: f64) -> f64 {
    let mut term = (1.0 - p).powi(n as i32);
    let mut sum = 0.0;
    for k in 0..successes {
        sum += term;
        term *= (n - k) as f64 * p / ((k + 1) as f64 * (1.0 - p));
    }
    sum + term / 2.0
}
