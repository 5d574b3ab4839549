//! Means of scores between 0 and 1, and differences of two means.
//!
//! A Student interval is symmetric, but scores near 0 or 1 are skewed. These limits are Wilson's with the scores' own
//! variance: the means `μ` with `(m − μ)² = t² s² μ(1 − μ) / (n m(1 − m))`. Scores that are only 0 or 1 give Wilson's
//! interval, but for t in place of z. Differences combine such limits as Newcombe does, with Satterthwaite's degrees
//! of freedom.
//!
//! A few scores may be close together by chance. The dispersion `s² / m(1 − m)` of groups under the same condition
//! tends to be similar, so a cell below the groups' mean dispersion is moved towards it.
//!
//! `n` equal scores say nothing of their variance. If no group shows any, the limits are exact: if more than a share
//! `u` of the population had another score, `n` equal ones would have a probability below `(1 − u)^n`.

use serde::{Deserialize, Serialize};

use super::distribution::{normal_cdf, student_t_quantile};
use super::rate::{square_and_add, wilson_limits};
use super::{Estimate, Z};

/// Variances below this are rounding.
const ZERO_VARIANCE: f64 = 1e-24;

/// How many scores' worth the pooled dispersion adds to each cell.
const PRIOR_FREEDOM: f64 = 2.0;

/// Number, mean and variance of scores between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Scores.
    pub n: usize,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    /// Their unbiased variance; 0 for fewer than two scores.
    pub variance: f64,
}

impl Moments {
    /// The moments of `scores`.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Self {
        // Welford's recurrence: no cancellation, one pass.
        let (mut n, mut mean, mut squares) = (0usize, 0.0, 0.0);
        for score in scores {
            n += 1;
            let step: f64 = score - mean;
            mean += step / n as f64;
            squares += step * (score - mean);
        }
        let variance = if n > 1 { squares / (n - 1) as f64 } else { 0.0 };
        Self { n, mean, variance }
    }

    /// The mean with its interval; `None` without scores.
    pub fn estimate(&self) -> Option<Estimate> {
        self.checked()?;
        let (low, high) = match self.dispersion() {
            Some(dispersion) => Dispersed { cell: *self, dispersion, freedom: self.freedom() }
                .limits(student_t_quantile(0.975, self.freedom())),
            None => self.constant_limits(Z),
        };
        Some(Estimate { value: self.mean, low, high })
    }

    pub(crate) fn checked(&self) -> Option<Self> {
        (self.n > 0 && self.mean.is_finite() && self.variance.is_finite()).then_some(*self)
    }

    /// The squared standard error of the mean.
    pub(crate) fn error_squared(&self) -> f64 {
        match self.dispersion() {
            Some(_) => self.variance / self.n as f64,
            None => {
                let half = other_share(self.n, Z) * self.mean.max(1.0 - self.mean);
                (half / Z) * (half / Z)
            }
        }
    }

    fn freedom(&self) -> f64 {
        self.n as f64 - 1.0
    }

    /// The variance in units of that of 0-or-1 scores with the same mean; `None` if the scores show no variance.
    fn dispersion(&self) -> Option<f64> {
        let most = self.mean * (1.0 - self.mean);
        (self.n > 1 && self.variance > ZERO_VARIANCE && most > 0.0).then(|| self.variance / most)
    }

    /// The limits of `n` equal scores.
    fn constant_limits(&self, critical: f64) -> (f64, f64) {
        let (m, share) = (self.mean.clamp(0.0, 1.0), other_share(self.n, critical));
        (m * (1.0 - share), m + (1.0 - m) * share)
    }
}

/// `a − b` for the means of independent scores. `None` if either has no scores.
pub fn mean_difference(a: Moments, b: Moments) -> Option<Estimate> {
    let (a, b) = (a.checked()?, b.checked()?);
    let (low, high) = mean_difference_limits(a, b, &PooledDispersion::of(&[a, b]), Z);
    Some(Estimate { value: a.mean - b.mean, low, high })
}

/// The mean of `score − label` (1 or 0) over the rows of a group: by how much the mean score exceeds the base rate.
/// `None` without rows or if the lengths differ.
pub fn calibration(scores: &[f64], positive: &[bool]) -> Option<Estimate> {
    if scores.len() != positive.len() {
        return None;
    }
    // From −1…1 to 0…1 and back.
    let moved = scores.iter().zip(positive).map(|(s, &p)| (s - f64::from(u8::from(p)) + 1.0) / 2.0);
    let estimate = Moments::of(moved).estimate()?;
    let back = |v: f64| 2.0 * v - 1.0;
    Some(Estimate {
        value: back(estimate.value),
        low: back(estimate.low),
        high: back(estimate.high),
    })
}

/// The limits of `a − b` at a critical value of the normal distribution.
pub(crate) fn mean_difference_limits(
    a: Moments,
    b: Moments,
    pool: &PooledDispersion,
    critical: f64,
) -> (f64, f64) {
    let (of_a, of_b) = if pool.freedom > 0.0 {
        let (a, b) = (Dispersed::new(a, pool), Dispersed::new(b, pool));
        let t = student_t_quantile(normal_cdf(critical), satterthwaite(&a, &b));
        (a.limits(t), b.limits(t))
    } else {
        (a.constant_limits(critical), b.constant_limits(critical))
    };
    square_and_add(a.mean, of_a, b.mean, of_b)
}

/// The mean dispersion of several cells, weighted by their degrees of freedom.
#[derive(Debug)]
pub struct PooledDispersion {
    dispersion: f64,
    /// 0 if no cell shows any variance.
    freedom: f64,
}

impl PooledDispersion {
    pub(crate) fn of(cells: &[Moments]) -> Self {
        let (mut sum, mut freedom) = (0.0, 0.0);
        for cell in cells {
            if let Some(dispersion) = cell.dispersion() {
                sum += cell.freedom() * dispersion;
                freedom += cell.freedom();
            }
        }
        Self { dispersion: sum / f64::max(freedom, 1.0), freedom }
    }

    /// The dispersion of a cell, moved towards the pooled one as if [`PRIOR_FREEDOM`] more scores had shown that, and
    /// with how many degrees of freedom it is known: for a bootstrap, which is cautious enough without the rule that a
    /// larger dispersion of its own counts in full. If no cell shows any variance, the scores may be 0 or 1.
    pub(crate) fn dispersion_of(&self, cell: Moments) -> (f64, f64) {
        if self.freedom <= 0.0 {
            return (1.0, cell.n as f64);
        }
        let (own, prior) = (cell.dispersion().unwrap_or(0.0), self.freedom.min(PRIOR_FREEDOM));
        let freedom = cell.freedom() + prior;
        let dispersion = (cell.freedom() * own + prior * self.dispersion) / freedom;
        (dispersion.max(ZERO_VARIANCE), freedom)
    }
}

/// A cell with the dispersion that its limits assume.
struct Dispersed {
    cell: Moments,
    dispersion: f64,
    freedom: f64,
}

impl Dispersed {
    /// Shrinks a cell's dispersion to the pooled one, as if [`PRIOR_FREEDOM`] more scores had shown that, unless its
    /// own is larger.
    fn new(cell: Moments, pool: &PooledDispersion) -> Self {
        let own = cell.dispersion().unwrap_or(0.0);
        let prior = pool.freedom.min(PRIOR_FREEDOM);
        let freedom = cell.freedom() + prior;
        let shrunk = (cell.freedom() * own + prior * pool.dispersion) / freedom;
        if own > shrunk {
            Self { cell, dispersion: own, freedom: cell.freedom() }
        } else {
            Self { cell, dispersion: shrunk, freedom }
        }
    }

    fn limits(&self, t: f64) -> (f64, f64) {
        wilson_limits(self.cell.mean.clamp(0.0, 1.0), self.cell.n as f64 / self.dispersion, t)
    }

    fn error_squared(&self) -> f64 {
        let mean = self.cell.mean;
        self.dispersion * (mean * (1.0 - mean)).max(1e-12) / self.cell.n as f64
    }
}

/// Satterthwaite's degrees of freedom.
fn satterthwaite(a: &Dispersed, b: &Dispersed) -> f64 {
    let (u, v) = (a.error_squared(), b.error_squared());
    (u + v) * (u + v) / (u * u / a.freedom + v * v / b.freedom)
}

/// The largest share of other scores that is compatible with `n` equal ones.
fn other_share(n: usize, critical: f64) -> f64 {
    let tail = normal_cdf(-critical).min(0.5);
    -(tail.ln() / n as f64).exp_m1()
}
