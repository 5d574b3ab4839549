//! Accuracy and fairness of a model on a table of rows.
//!
//! A row is selected if `a·θ > 0`. A rate over no rows is `None`.

use std::array::from_fn;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::logistic::dot;
use crate::rows::Rows;

/// Metrics of a model on a table. Rates lie between 0 and 1. Differences are the privileged group minus the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of rows.
    pub rows: usize,
    /// Share of rows whose label is predicted.
    pub accuracy: Option<f64>,
    /// Mean of true positive and true negative rate: 0.5 for a constant model at any base rate.
    pub balanced_accuracy: Option<f64>,
    /// Probability that a positive row scores above a negative one. Ties count half.
    pub auc: Option<f64>,
    /// Statistical parity difference: selection rate of the privileged group minus that of the other.
    pub spd: Option<f64>,
    /// Standard error of `spd`, with both rates as independent binomials.
    pub spd_standard_error: Option<f64>,
    /// Equal opportunity difference: true positive rate of the privileged group minus that of the other.
    pub eod: Option<f64>,
    /// Standard error of `eod`.
    pub eod_standard_error: Option<f64>,
    /// Metrics of each group.
    pub groups: Groups,
}

/// Metrics of both groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// Rows with `s = 1`.
    pub privileged: GroupMetrics,
    /// Rows with `s = 0`.
    pub unprivileged: GroupMetrics,
}

/// Metrics of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMetrics {
    /// Number of rows.
    pub rows: usize,
    /// Share of positive labels.
    pub base_rate: Option<f64>,
    /// Share of rows selected.
    pub selection_rate: Option<f64>,
    /// Share of positive rows selected.
    pub true_positive_rate: Option<f64>,
    /// Share of negative rows selected.
    pub false_positive_rate: Option<f64>,
    /// Share of rows whose label is predicted.
    pub accuracy: Option<f64>,
}

impl Metrics {
    /// Measures the model `theta` on `rows`.
    pub fn of(theta: &[f64], rows: &Rows) -> Result<Self, Error> {
        let n = rows.layout().n();
        if theta.len() != n {
            return Err(Error::Features { expected: n, found: theta.len() });
        }
        let scores: Vec<f64> = rows.values().chunks_exact(n).map(|a| dot(a, theta)).collect();
        // Row counts by group, label and decision.
        let mut counts = [[[0; 2]; 2]; 2];
        for (i, &score) in scores.iter().enumerate() {
            let (group, label) = (rows.is_privileged(i), rows.is_positive(i));
            counts[usize::from(group)][usize::from(label)][usize::from(is_selected(score))] += 1;
        }
        let all = from_fn(|y| from_fn(|d| counts[0][y][d] + counts[1][y][d]));
        let all = GroupMetrics::of(all);
        let [unprivileged, privileged] = counts.map(GroupMetrics::of);
        let [unprivileged_positives, privileged_positives] =
            counts.map(|group| group[1].iter().sum());
        let tpr_and_fpr = all.true_positive_rate.zip(all.false_positive_rate);
        Ok(Self {
            rows: rows.len(),
            accuracy: all.accuracy,
            balanced_accuracy: tpr_and_fpr.map(|(tpr, fpr)| 0.5 * (tpr + 1.0 - fpr)),
            auc: area_under_curve(&scores, rows.labels()),
            spd: difference(privileged.selection_rate, unprivileged.selection_rate),
            spd_standard_error: standard_error(
                (privileged.selection_rate, privileged.rows),
                (unprivileged.selection_rate, unprivileged.rows),
            ),
            eod: difference(privileged.true_positive_rate, unprivileged.true_positive_rate),
            eod_standard_error: standard_error(
                (privileged.true_positive_rate, privileged_positives),
                (unprivileged.true_positive_rate, unprivileged_positives),
            ),
            groups: Groups { privileged, unprivileged },
        })
    }

    /// Why metrics are missing, as text. Usually empty.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        for (name, group) in
            [("privileged", &self.groups.privileged), ("unprivileged", &self.groups.unprivileged)]
        {
            if group.rows == 0 {
                gaps.push(format!("no row is in the {name} group: SPD and EOD are undefined"));
            } else if group.true_positive_rate.is_none() {
                gaps.push(format!("no positive row is in the {name} group: EOD is undefined"));
            }
        }
        if self.auc.is_none() {
            gaps.push(
                "all rows have the same label: AUC and balanced accuracy are undefined".to_owned(),
            );
        }
        gaps
    }
}

/// Whether a score `a·θ` selects its row.
pub fn is_selected(score: f64) -> bool {
    score > 0.0
}

impl GroupMetrics {
    /// From row counts by label and decision.
    fn of(
        [[true_negatives, false_positives], [false_negatives, true_positives]]: [[usize; 2]; 2],
    ) -> Self {
        let (negatives, positives) =
            (true_negatives + false_positives, false_negatives + true_positives);
        let rows = negatives + positives;
        Self {
            rows,
            base_rate: rate(positives, rows),
            selection_rate: rate(false_positives + true_positives, rows),
            true_positive_rate: rate(true_positives, positives),
            false_positive_rate: rate(false_positives, negatives),
            accuracy: rate(true_negatives + true_positives, rows),
        }
    }
}

fn rate(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn difference(privileged: Option<f64>, unprivileged: Option<f64>) -> Option<f64> {
    Some(privileged? - unprivileged?)
}

fn standard_error(a: (Option<f64>, usize), b: (Option<f64>, usize)) -> Option<f64> {
    let variance = |(p, rows): (Option<f64>, usize)| p.map(|p| p * (1.0 - p) / rows as f64);
    Some((variance(a)? + variance(b)?).sqrt())
}

/// The Mann–Whitney statistic. Tied scores share their mean rank.
fn area_under_curve(scores: &[f64], labels: &[f64]) -> Option<f64> {
    let positives = labels.iter().filter(|&&y| y > 0.0).count();
    let negatives = labels.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&i, &j| scores[i].total_cmp(&scores[j]));
    let mut rank_sum = 0.0;
    let mut start = 0;
    for tied in order.chunk_by(|&i, &j| scores[i] == scores[j]) {
        let mean_rank = start as f64 + 0.5 * (tied.len() + 1) as f64;
        rank_sum += mean_rank * tied.iter().filter(|&&i| labels[i] > 0.0).count() as f64;
        start += tied.len();
    }
    let (positives, negatives) = (positives as f64, negatives as f64);
    Some((rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rows::Layout;

    /// Metrics of rows whose only feature is their score.
    fn scored(cases: &[(f64, bool, bool)]) -> Metrics {
        let layout = Layout { n_x: 1, intercept: false };
        let x: Vec<f64> = cases.iter().map(|c| c.0).collect();
        let s: Vec<bool> = cases.iter().map(|c| c.1).collect();
        let y: Vec<bool> = cases.iter().map(|c| c.2).collect();
        Metrics::of(&[1.0, 0.0], &Rows::new(layout, &x, &s, &y).unwrap()).unwrap()
    }

    #[test]
    fn metrics_agree_with_a_hand_counted_table() {
        // (score, privileged, positive): 4 privileged rows, 3 others.
        let m = scored(&[
            (2.0, true, true),
            (1.0, true, false),
            (-1.0, true, true),
            (3.0, true, true),
            (-2.0, false, true),
            (0.5, false, true),
            (-3.0, false, false),
        ]);
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-15;
        assert_eq!(m.rows, 7);
        assert!(close(m.accuracy, 4.0 / 7.0));
        assert!(close(m.balanced_accuracy, 0.5 * (3.0 / 5.0 + 1.0 / 2.0)));
        assert!(close(m.spd, 3.0 / 4.0 - 1.0 / 3.0));
        assert!(close(m.eod, 2.0 / 3.0 - 1.0 / 2.0));
        assert!(close(m.spd_standard_error, (0.75f64 * 0.25 / 4.0 + 2.0 / 27.0).sqrt()));
        // Of 5 × 2 pairs, the positive is above in 2 (2.0, 3.0 beat both), .5, −1, −2 beat one each.
        assert!(close(m.auc, 7.0 / 10.0));
        let other = &m.groups.unprivileged;
        assert_eq!(other.rows, 3);
        assert!(close(other.base_rate, 2.0 / 3.0));
        assert!(close(other.selection_rate, 1.0 / 3.0));
        assert!(close(other.true_positive_rate, 0.5));
        assert!(close(other.false_positive_rate, 0.0));
        assert!(close(other.accuracy, 2.0 / 3.0));
        assert!(m.gaps().is_empty());
    }

    #[test]
    fn tied_scores_count_half_and_a_score_of_zero_is_not_selected() {
        let m = scored(&[(0.0, true, true), (0.0, true, false), (0.0, false, true)]);
        assert_eq!(m.auc, Some(0.5));
        assert_eq!(m.groups.privileged.selection_rate, Some(0.0));
    }

    #[test]
    fn missing_groups_and_classes_give_none_and_a_reason() {
        let m = scored(&[(1.0, true, true), (-1.0, true, true)]);
        assert_eq!((m.spd, m.eod, m.auc, m.balanced_accuracy), (None, None, None, None));
        assert_eq!(m.accuracy, Some(0.5));
        assert_eq!(m.groups.unprivileged.selection_rate, None);
        assert_eq!(m.gaps().len(), 2);
        assert_eq!(scored(&[]).accuracy, None);
    }
}
