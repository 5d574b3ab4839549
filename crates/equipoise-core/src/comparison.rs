//! Two models on the same rows: how much worse is the other?
//!
//! Differences between two models on the same rows are known far better than either model's figures, because most of the
//! sampling error is common to both. The loss differs by the mean of the rows' differences, with Student's t interval. The
//! worst gap is a difference of means for each model; the interval uses the variance of each row's contribution to
//! both, as the delta method gives it, with the worst pairs of groups taken as fixed.

mod alternatives;
#[cfg(test)]
mod tests;

pub use alternatives::{compare_with_pooled, compare_with_root_only};

pub(crate) use alternatives::compare_with_constant;

use serde::{Deserialize, Serialize};

use crate::fairness::Fairness;
use crate::interval::{Count, Estimate, student_t_quantile};
use crate::logistic::{dot, loss};
use crate::metrics::{Gap, Metrics, is_selected};
use crate::rows::Rows;

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
        let variance = squares / ((n - 1) * n) as f64;

        let [own, other] = [own, other].map(|scores| GapParts::of(scores, rows, fairness));
        let (own, other) = (own?, other?);
        let squares: f64 =
            own.by_row.iter().zip(&other.by_row).map(|(own, other)| (other - own).powi(2)).sum();
        let gap_variance = squares * n as f64 / (n - 1) as f64;
        Some(Self {
            loss: interval(mean, variance, n),
            gap: interval(other.size - own.size, gap_variance, n),
        })
    }

    /// Whether the other model is provably no worse: provably better in loss or gap, and in the other figure provably
    /// not worse by more than a margin that does not matter.
    pub fn is_no_worse(&self) -> bool {
        // Models that decide every row alike have a difference without an error, which proves nothing.
        let is_gap_known = self.gap.low < self.gap.high;
        let better_loss = self.loss.high < 0.0 && self.gap.high <= GAP_MARGIN && is_gap_known;
        let better_gap = self.gap.high < 0.0 && self.loss.high <= LOSS_MARGIN;
        better_loss || better_gap
    }

    /// Whether the other model is provably worse in loss or gap.
    pub fn is_worse(&self) -> bool {
        self.loss.low > 0.0 || self.gap.low > 0.0
    }
}

/// The scores `a·θ` of all rows.
pub(crate) fn scores(theta: &[f64], rows: &Rows) -> Vec<f64> {
    (0..rows.len()).map(|i| dot(rows.a(i), theta)).collect()
}

/// The size of a model's worst gap, and each row's contribution to its error.
struct GapParts {
    size: f64,
    by_row: Vec<f64>,
}

impl GapParts {
    fn of(scores: &[f64], rows: &Rows, fairness: Fairness) -> Option<Self> {
        let metrics = Metrics::of_scores(scores, rows, 0.0);
        let gap: Gap = metrics.gap(fairness)?;
        let sign = if gap.value < 0.0 { -1.0 } else { 1.0 };
        let names = rows.layout().groups.names();
        let group = |name: &String| names.iter().position(|known| known == name);
        let pair = [(group(&gap.groups[0])?, sign), (group(&gap.groups[1])?, -sign)];
        let mut by_row = vec![0.0; rows.len()];
        for (group, sign) in pair {
            let Count { successes: selected, n } = metrics.groups[group].counts(gap.condition);
            let rate = selected as f64 / n as f64;
            for (i, part) in by_row.iter_mut().enumerate() {
                if rows.group(i) == group && gap.condition.includes(rows.is_positive(i)) {
                    let decision = f64::from(u8::from(is_selected(scores[i])));
                    *part = sign * (decision - rate) / n as f64;
                }
            }
        }
        Some(Self { size: gap.size(), by_row })
    }
}

/// `value ± t √variance`, with Student's t for `n` rows.
fn interval(value: f64, variance: f64, n: usize) -> Estimate {
    let half = student_t_quantile(0.975, (n - 1) as f64) * variance.sqrt();
    Estimate { value, low: value - half, high: value + half }
}
