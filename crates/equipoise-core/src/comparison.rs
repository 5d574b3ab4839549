//! Two models on the same rows: how much worse is the other?
//!
//! Differences between two models on the same rows are known far better than either model's figures, because most of the
//! sampling error is common to both. The loss differs by the mean of the rows' differences, with Student's t interval. The
//! interval of the worst gap is in `worst_gap`.

mod alternatives;
#[cfg(test)]
mod tests;
mod worst_gap;

pub use alternatives::{compare_with_pooled, compare_with_root_only};

pub(crate) use alternatives::{compare_with_constant, constant_loss_difference};

use serde::{Deserialize, Serialize};

use crate::fairness::Fairness;
use crate::interval::{Estimate, student_t};
use crate::logistic::loss;
use crate::rows::Rows;
pub(crate) use worst_gap::worst_gap_difference;

/// The figures of another model minus those of the published one, on the same rows, with 95 % intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Difference in mean loss: above 0 if the other model is worse.
    pub loss: Estimate,
    /// Difference in the size of the worst gap: above 0 if the other model is less fair.
    pub gap: Estimate,
}

/// What the published model is compared with on the root. `None` where there is nothing to compare.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparisons {
    /// The constant that predicts the root's share of positive labels for everyone.
    pub constant: Option<Comparison>,
    /// The model of all proxies pooled.
    pub pooled: Option<Comparison>,
    /// Fair models of the root alone, each measured on root rows that it was not fitted to.
    pub root_only: Option<Comparison>,
}

/// A loss that is higher by at most this does not matter: 0.01 nats is 1 % of the likelihood of a row.
const LOSS_MARGIN: f64 = 0.01;

/// A gap that is larger by at most this does not matter: two in a hundred people.
const GAP_MARGIN: f64 = 0.02;

impl Comparison {
    /// Compares scores `a·θ` of both models on the same rows. `None` if a gap cannot be measured, or there are fewer than
    /// two rows.
    pub(crate) fn of(own: &[f64], other: &[f64], rows: &Rows, fairness: Fairness) -> Option<Self> {
        let loss = loss_difference(own, other, rows)?;
        Some(Self { loss, gap: worst_gap_difference(own, other, rows, fairness)? })
    }

    /// Whether the published model should give way to the other one: the other is provably not worse in loss and gap by
    /// more than a margin, and in one of them provably better, by at least the margin as far as the rows show.
    ///
    /// Each end of an interval is wrong in 2.5 % of samples. If the other model is better in neither figure, one of two
    /// upper ends must be wrong, so this holds in at most 5 % of samples; if the other model is worse by more than the
    /// margin in a figure, in at most 2.5 %.
    pub fn is_no_worse(&self) -> bool {
        // Models that decide every row alike have a difference without an error, which proves nothing.
        let is_gap_known = self.gap.low < self.gap.high;
        let is_not_worse =
            self.loss.high <= LOSS_MARGIN && self.gap.high <= GAP_MARGIN && is_gap_known;
        let is_better =
            |figure: Estimate, margin: f64| figure.high < 0.0 && figure.value <= -margin;
        is_not_worse && (is_better(self.loss, LOSS_MARGIN) || is_better(self.gap, GAP_MARGIN))
    }

    /// Whether the other model is provably worse in loss or gap.
    pub fn is_worse(&self) -> bool {
        self.loss.low > 0.0 || self.gap.low > 0.0
    }
}

/// The other model's mean loss minus the own model's. `None` if there are fewer than two rows.
fn loss_difference(own: &[f64], other: &[f64], rows: &Rows) -> Option<Estimate> {
    let losses = |scores: &[f64]| -> Vec<f64> {
        scores.iter().zip(rows.labels()).map(|(score, y)| loss(y * score)).collect()
    };
    let differences: Vec<f64> =
        losses(other).iter().zip(losses(own)).map(|(other, own)| other - own).collect();
    let n = differences.len();
    if n < 2 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n as f64;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    let half = student_t(n - 1) * (squares / ((n - 1) * n) as f64).sqrt();
    Some(Estimate { value: mean, low: mean - half, high: mean + half })
}

/// The scores `a·θ` of all rows.
pub(crate) fn scores(theta: &[f64], rows: &Rows) -> Vec<f64> {
    (0..rows.len()).map(|i| rows.score(i, theta)).collect()
}
