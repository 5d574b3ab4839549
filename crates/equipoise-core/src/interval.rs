//! Figures with 95 % intervals: rates, AUC, calibration, and the worst gap among several groups.
//!
//! This module knows counts and scores, not rows or models.
//!
//! | figure | method |
//! | --- | --- |
//! | rate | Wilson; exact with mid-p for one or two rows ([`Count::rate`]) |
//! | difference of two rates | Newcombe's combination of both rates' limits ([`rate_difference`]) |
//! | ratio of two rates | Donner and Zou's MOVER-R with both rates' limits ([`rate_ratio`]) |
//! | lowest rate as a share of the highest | MOVER-R for two groups; otherwise over all pairs, with Tukey's critical value above ([`worst_ratio`]) |
//! | balanced accuracy | MOVER with both rates' limits ([`balanced_accuracy`]) |
//! | calibration | the normal distribution, cautious for few rows ([`calibration`]) |
//! | AUC | DeLong's variance, on the logit scale; a score interval near 0 and 1 ([`Auc`]) |
//! | paired differences | Student's t ([`paired_mean`]) |
//! | difference of two rates on the same rows | Bonett and Price (`paired_rates`) |
//! | worst gap of several groups | Newcombe for two groups, otherwise a test inverted by a seeded parametric bootstrap of every group and label ([`WorstGap`]) |

mod auc;
mod distribution;
mod paired;
mod rate;
mod rows_needed;
#[cfg(test)]
mod tests;
mod worst_gap;
mod worst_ratio;

use serde::{Deserialize, Serialize};

pub use auc::Auc;
pub use distribution::normal_cdf;
pub(crate) use distribution::student_t;
pub(crate) use paired::paired_rates;
pub use paired::{calibration, paired_mean};
pub(crate) use rate::equal_rates_margin;
pub use rate::{Count, balanced_accuracy, rate_difference, rate_ratio};
pub use rows_needed::{rows_per_group, rows_to_exclude};
pub use worst_gap::{Location, WorstGap};
pub use worst_ratio::worst_ratio;

/// The 97.5 % quantile of the standard normal distribution.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Whether the interval contains `value`.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The absolute value of the figure. If the interval contains 0, so does the result's.
    pub fn abs(&self) -> Self {
        let (a, b) = (self.low.abs(), self.high.abs());
        let low = if self.contains(0.0) { 0.0 } else { a.min(b) };
        Self { value: self.value.abs(), low, high: a.max(b) }
    }
}

impl std::ops::Neg for Estimate {
    type Output = Self;

    fn neg(self) -> Self {
        // Adding 0 turns −0 into 0.
        Self { value: 0.0 - self.value, low: 0.0 - self.high, high: 0.0 - self.low }
    }
}
