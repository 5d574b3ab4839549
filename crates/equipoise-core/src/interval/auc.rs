//! The area under the ROC curve.
//!
//! DeLong's components: for each positive row, the share of negatives that score below it; for each negative row, the
//! share of positives above it; ties count half. Their variances give that of the AUC. Sorting once gives all components,
//! so the cost is O(n log n).
//!
//! DeLong's variance is too small near 0 and 1, and 0 if the scores separate the labels. Newcombe's score
//! interval (2006, method 5) uses the variance under each candidate value instead and has a width at 1.
//! Of both, an estimate takes the lower of the lower limits and the higher of the upper ones where either label
//! has fewer than [`FEW_ROWS`] rows or the scores separate the labels, and DeLong on the logit scale otherwise.

use rayon::prelude::*;

use super::{Estimate, Z};

/// Below this number of positive or negative rows, DeLong's interval alone is too narrow.
const FEW_ROWS: usize = 10;

/// The AUC of one model, with what is needed for intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Auc {
    /// The AUC.
    pub value: f64,
    /// One component per positive row, in the order of the rows.
    of_positives: Vec<f64>,
    /// One component per negative row.
    of_negatives: Vec<f64>,
}

impl Auc {
    /// The AUC of `scores` for the labels `positive`. `None` if their lengths differ, a score is not a number, or one
    /// of the labels is absent.
    pub fn of(scores: &[f64], positive: &[bool]) -> Option<Self> {
        let n_positive = positive.iter().filter(|p| **p).count();
        let n_negative = positive.len() - n_positive;
        let comparable = scores.iter().all(|score| !score.is_nan());
        if scores.len() != positive.len() || n_positive == 0 || n_negative == 0 || !comparable {
            return None;
        }
        let mut order: Vec<(f64, usize)> = scores.iter().copied().zip(0..).collect();
        order.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut components = vec![0.0; scores.len()];
        let (mut positives_below, mut negatives_below) = (0, 0);
        // Twice the number of pairs in which the positive row scores higher, ties counting half.
        let mut twice_higher = 0;
        for tied in order.chunk_by(|a, b| a.0 == b.0) {
            let positives = tied.iter().filter(|(_, i)| positive[*i]).count();
            let negatives = tied.len() - positives;
            // Twice the counts, so that halves stay whole.
            twice_higher += positives * (2 * negatives_below + negatives);
            let below = (2 * negatives_below + negatives) as f64 / (2 * n_negative) as f64;
            let above =
                (2 * (n_positive - positives_below) - positives) as f64 / (2 * n_positive) as f64;
            for &(_, i) in tied {
                components[i] = if positive[i] { below } else { above };
            }
            positives_below += positives;
            negatives_below += negatives;
        }
        let select = |label: bool| -> Vec<f64> {
            components.iter().zip(positive).filter(|(_, p)| **p == label).map(|(c, _)| *c).collect()
        };
        let (of_positives, of_negatives) = (select(true), select(false));
        let value = 0.5 * twice_higher as f64 / (n_positive as f64 * n_negative as f64);
        Some(Self { value, of_positives, of_negatives })
    }

    /// DeLong's standard error.
    pub fn standard_error(&self) -> f64 {
        let of_mean = |components: &[f64]| variance(components) / components.len() as f64;
        (of_mean(&self.of_positives) + of_mean(&self.of_negatives)).sqrt()
    }

    /// The AUC with its interval.
    pub fn estimate(&self) -> Estimate {
        let (m, n) = (self.of_positives.len(), self.of_negatives.len());
        let error = self.standard_error();
        let delong = (error > 0.0).then(|| logit_limits(self.value, error));
        let score = || score_limits(self.value, m as f64, n as f64);
        let (low, high) = match delong {
            Some(limits) if m.min(n) >= FEW_ROWS => limits,
            Some((low, high)) => {
                let score = score();
                (low.min(score.0), high.max(score.1))
            }
            None => score(),
        };
        Estimate { value: self.value, low, high }
    }
}

/// The unbiased variance; 0 for a single number.
fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sum: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    sum / (n - 1.0).max(1.0)
}

/// `value ± z·error` on the logit scale. `value` is inside (0, 1).
fn logit_limits(value: f64, error: f64) -> (f64, f64) {
    let logit = (value / (1.0 - value)).ln();
    let half = Z * error / (value * (1.0 - value));
    let back = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    (back(logit - half), back(logit + half))
}

/// The values `θ` with `|θ − value| = z √V(θ)`, for the variance of Hanley and McNeil with both sizes inside the
/// bracket replaced by their mean.
fn score_limits(value: f64, m: f64, n: f64) -> (f64, f64) {
    let others = (m + n) / 2.0 - 1.0;
    let error = |t: f64| {
        let bracket = 1.0 + others * ((1.0 - t) / (2.0 - t) + t / (1.0 + t));
        (t * (1.0 - t) * bracket / (m * n)).max(0.0).sqrt()
    };
    // The limit lies between `value` and `end`: at `value` the distance is smaller than z errors, at `end` larger.
    let solve = |end: f64| {
        let (mut inside, mut outside) = (value, end);
        for _ in 0..60 {
            let middle = (inside + outside) / 2.0;
            if (middle - value).abs() <= Z * error(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        inside
    };
    let low = if value <= 0.0 { 0.0 } else { solve(0.0) };
    let high = if value >= 1.0 { 1.0 } else { solve(1.0) };
    (low, high)
}
