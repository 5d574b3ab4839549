//! Figures of one group.

use serde::{Deserialize, Serialize};

use super::estimate::wald;
use super::{Condition, Estimate, Gaps, area_under_curve, sigmoid};

/// Metrics of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMetrics {
    /// Its name.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Rows with a positive label.
    pub positives: usize,
    /// Rows selected.
    pub selected: usize,
    /// Positive rows selected.
    pub true_positives: usize,
    /// Share of positive labels.
    pub base_rate: Option<Estimate>,
    /// Share of rows selected.
    pub selection_rate: Option<Estimate>,
    /// Share of positive rows selected.
    pub true_positive_rate: Option<Estimate>,
    /// Share of negative rows selected.
    pub false_positive_rate: Option<Estimate>,
    /// Share of rows whose label is predicted.
    pub accuracy: Option<Estimate>,
    /// Mean of true positive and true negative rate.
    pub balanced_accuracy: Option<Estimate>,
    /// Probability that a positive row of the group scores above a negative one.
    pub auc: Option<Estimate>,
    /// Mean predicted probability of the positive label minus the base rate.
    pub calibration: Option<Estimate>,
    /// The group's rates minus those of all other groups together.
    pub gaps_to_rest: Gaps,
}

impl GroupMetrics {
    /// From the score and label of each row.
    pub(super) fn of(name: String, scored: &[(f64, bool)], threshold: f64) -> Self {
        let count = |holds: &dyn Fn(f64, bool) -> bool| {
            scored.iter().filter(|(score, label)| holds(*score, *label)).count()
        };
        let rows = scored.len();
        let positives = count(&|_, label| label);
        let selected = count(&|score, _| score > threshold);
        let true_positives = count(&|score, label| label && score > threshold);
        let negatives = rows - positives;
        let false_positives = selected - true_positives;
        let true_negatives = negatives - false_positives;
        let true_positive_rate = rate(true_positives, positives);
        let false_positive_rate = rate(false_positives, negatives);
        let both = true_positive_rate.zip(false_positive_rate);
        let error = scored.iter().map(|(score, label)| sigmoid(*score) - f64::from(*label));
        let calibration = (rows > 0).then(|| wald(error.sum::<f64>() / rows as f64, 0.0));
        Self {
            name,
            rows,
            positives,
            selected,
            true_positives,
            base_rate: rate(positives, rows),
            selection_rate: rate(selected, rows),
            true_positive_rate,
            false_positive_rate,
            accuracy: rate(true_negatives + true_positives, rows),
            balanced_accuracy: both
                .map(|(tpr, fpr)| wald(0.5 * (tpr.value + 1.0 - fpr.value), 0.0)),
            auc: area_under_curve(scored).map(|auc| wald(auc, 0.0)),
            calibration,
            gaps_to_rest: Gaps::default(),
        }
    }

    /// Rows selected, and all rows, among those of a condition.
    pub fn counts(&self, condition: Condition) -> (usize, usize) {
        match condition {
            Condition::All => (self.selected, self.rows),
            Condition::Positives => (self.true_positives, self.positives),
            Condition::Negatives => {
                (self.selected - self.true_positives, self.rows - self.positives)
            }
        }
    }

    /// The rate among the rows of a condition.
    pub fn rate(&self, condition: Condition) -> Option<Estimate> {
        match condition {
            Condition::All => self.selection_rate,
            Condition::Positives => self.true_positive_rate,
            Condition::Negatives => self.false_positive_rate,
        }
    }
}

fn rate(part: usize, whole: usize) -> Option<Estimate> {
    (whole > 0).then(|| {
        let (k, n) = (part as f64, whole as f64);
        let p = k / n;
        wald(p, p * (1.0 - p) / n)
    })
}
