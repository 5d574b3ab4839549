//! How well models rank rows within groups.
//!
//! Pairs of rows of one group only: a fair model ranks people of different groups differently than the labels do, which
//! must not be held against it.

use crate::rows::Rows;

/// Errors below this are rounding.
const SMALLEST_ERROR: f64 = 1e-6;
/// Variance of the mean placement of a single row, about that of a uniform number.
const SINGLE_ROW_VARIANCE: f64 = 0.1;

/// The placement of each row: the share of its group's rows with the other label that the scores put on the right
/// side of it, ties counting half. Groups with one label only are left out.
pub(super) struct Placements {
    groups: Vec<GroupPlacements>,
}

struct GroupPlacements {
    /// How much the group's AUC counts: `n₊ n₋ / (n₊ + n₋)`.
    weight: f64,
    positives: Vec<f64>,
    negatives: Vec<f64>,
}

impl Placements {
    pub(super) fn new(rows: &Rows, scores: &[f64]) -> Self {
        let mut by_cell = vec![[Vec::new(), Vec::new()]; rows.layout().groups.len()];
        for (i, score) in scores.iter().enumerate() {
            by_cell[rows.group(i)][usize::from(rows.is_positive(i))].push(*score);
        }
        let groups = by_cell.iter().filter(|[n, p]| !n.is_empty() && !p.is_empty());
        let groups = groups.map(|[negatives, positives]| {
            let (n, p) = (negatives.len() as f64, positives.len() as f64);
            GroupPlacements {
                weight: n * p / (n + p),
                positives: shares_below(positives, negatives),
                negatives: shares_below(negatives, positives).iter().map(|s| 1.0 - s).collect(),
            }
        });
        Self { groups: groups.collect() }
    }

    /// The weighted mean of the groups' areas under the ROC curve. `None` if no group has both labels.
    pub(super) fn auc(&self) -> Option<f64> {
        let total = self.total_weight();
        let sum: f64 = self.groups.iter().map(|g| g.weight * mean(&g.positives)).sum();
        (total > 0.0).then(|| sum / total)
    }

    /// DeLong's standard error of the difference of two models' AUC on the same rows.
    pub(super) fn paired_error(&self, other: &Self) -> f64 {
        let total = self.total_weight();
        let variance = self.groups.iter().zip(&other.groups).map(|(a, b)| {
            let share = a.weight / total;
            share
                * share
                * (variance_of_mean(&a.positives, &b.positives)
                    + variance_of_mean(&a.negatives, &b.negatives))
        });
        variance.sum::<f64>().sqrt().max(SMALLEST_ERROR)
    }

    fn total_weight(&self) -> f64 {
        self.groups.iter().map(|group| group.weight).sum()
    }
}

/// For each value, the share of the others below it, ties counting half.
fn shares_below(values: &[f64], others: &[f64]) -> Vec<f64> {
    let mut sorted = others.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let share = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let not_above = sorted.partition_point(|other| other <= value);
        0.5 * (below + not_above) as f64 / sorted.len() as f64
    };
    values.iter().map(share).collect()
}

fn variance_of_mean(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < 2 {
        return SINGLE_ROW_VARIANCE;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let (n, centre) = (a.len() as f64, mean(&differences));
    differences.iter().map(|d| (d - centre) * (d - centre)).sum::<f64>() / (n - 1.0) / n
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rows::Layout;

    /// Group 0: positives 3, 1; negatives 2, 1. Group 1: positive 5; negatives 4, 6, 0.
    fn by_hand() -> (Rows, Vec<f64>) {
        let group = [false, false, false, false, true, true, true, true];
        let positive = [true, true, false, false, true, false, false, false];
        let scores = vec![3.0, 1.0, 2.0, 1.0, 5.0, 4.0, 6.0, 0.0];
        let rows = Rows::new(Layout::two_groups(1, false), &scores, &group, &positive).unwrap();
        (rows, scores)
    }

    #[test]
    fn auc_matches_pairs_counted_by_hand() {
        let (rows, scores) = by_hand();
        // Group 0: (3>2, 3>1, 1<2, 1=1) = 2.5 of 4. Group 1: (5>4, 5<6, 5>0) = 2 of 3.
        // Weights: 2·2/4 = 1 and 1·3/4.
        let expected = (1.0 * 0.625 + 0.75 * 2.0 / 3.0) / 1.75;
        let found = Placements::new(&rows, &scores).auc().unwrap();
        assert!((found - expected).abs() < 1e-15, "{found}, expected {expected}");
    }

    #[test]
    fn the_paired_error_matches_delongs_formula_by_hand() {
        let (rows, scores) = by_hand();
        let model = Placements::new(&rows, &scores);
        let constant = Placements::new(&rows, &[0.0; 8]);
        // Against a constant, whose placements are all ½. Group 0: positives 1, ¼, negatives ½, ¾.
        let zero = (2.0 * 0.375_f64.powi(2) + 2.0 * 0.125_f64.powi(2)) / 1.0 / 2.0;
        // Group 1: one positive; negatives 1, 0, 1 with mean ⅔ and sum of squares ⅔.
        let one = 0.1 + (2.0 / 3.0) / 2.0 / 3.0;
        let share = 1.0 / 1.75_f64;
        let expected = (share.powi(2) * zero + (1.0 - share).powi(2) * one).sqrt();
        assert!((model.paired_error(&constant) - expected).abs() < 1e-15);
        assert_eq!(model.paired_error(&model).max(0.03), (0.1 * (0.75 / 1.75_f64).powi(2)).sqrt());
    }

    #[test]
    fn a_table_with_one_label_in_each_group_has_no_auc() {
        let layout = Layout::two_groups(1, false);
        let rows = Rows::new(layout, &[1.0, 2.0], &[false, true], &[true, false]).unwrap();
        assert_eq!(Placements::new(&rows, &[1.0, 2.0]).auc(), None);
    }
}
