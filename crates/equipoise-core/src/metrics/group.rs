//! Figures of one group.

use serde::{Deserialize, Serialize};

use super::Gaps;
use crate::fairness::Condition;
use crate::interval::{Auc, Count, Estimate, balanced_accuracy, calibration};
use crate::logistic::sigmoid;

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
        let count = |is_counted: &dyn Fn(f64, bool) -> bool| {
            scored.iter().filter(|(score, label)| is_counted(*score, *label)).count()
        };
        let (scores, labels): (Vec<f64>, Vec<bool>) = scored.iter().copied().unzip();
        let probabilities: Vec<f64> = scores.iter().map(|&score| sigmoid(score)).collect();
        let counted = Self {
            name,
            rows: scored.len(),
            positives: count(&|_, label| label),
            selected: count(&|score, _| score > threshold),
            true_positives: count(&|score, label| label && score > threshold),
            base_rate: None,
            selection_rate: None,
            true_positive_rate: None,
            false_positive_rate: None,
            accuracy: None,
            balanced_accuracy: None,
            auc: Auc::of(&scores, &labels).map(|auc| auc.estimate()),
            calibration: calibration(&probabilities, &labels),
            gaps_to_rest: Gaps::default(),
        };
        let of = |successes: usize, n: usize| Count { successes, n };
        let [all, positives, negatives] = Condition::ALL.map(|c| counted.counts(c));
        let rejected = of(negatives.n - negatives.successes, negatives.n);
        Self {
            base_rate: of(counted.positives, counted.rows).rate(),
            selection_rate: all.rate(),
            true_positive_rate: positives.rate(),
            false_positive_rate: negatives.rate(),
            accuracy: of(positives.successes + rejected.successes, all.n).rate(),
            balanced_accuracy: balanced_accuracy(positives, rejected).map(|estimate| {
                let rate = |count: Count| count.successes as f64 / count.n as f64;
                // Rounded as in earlier versions, so that figures can be compared digit by digit.
                Estimate { value: 0.5 * (rate(positives) + 1.0 - rate(negatives)), ..estimate }
            }),
            ..counted
        }
    }

    /// Rows selected, and all rows, among those of a condition.
    pub fn counts(&self, condition: Condition) -> Count {
        let (successes, n) = match condition {
            Condition::All => (self.selected, self.rows),
            Condition::Positives => (self.true_positives, self.positives),
            Condition::Negatives => {
                (self.selected - self.true_positives, self.rows - self.positives)
            }
        };
        Count { successes, n }
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
