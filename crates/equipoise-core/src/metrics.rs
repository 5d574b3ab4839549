//! Accuracy and fairness of a model on a table of rows, as people measure them: by decisions, group by group.
//!
//! A row is selected if its score `a·θ` is above a threshold, 0 by default. A figure over no rows is `None`. Every figure
//! has a 95 % interval; `interval` names the methods.

mod gap;
mod group;

pub use gap::{Gap, Gaps};
pub use group::GroupMetrics;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::Fairness;
use crate::interval::Estimate;
use crate::rows::Rows;

/// Metrics of a model on a table. Rates lie between 0 and 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of rows.
    pub rows: usize,
    /// Share of rows whose label is predicted.
    pub accuracy: Option<Estimate>,
    /// Mean of true positive and true negative rate: 0.5 for a constant model at any base rate.
    pub balanced_accuracy: Option<Estimate>,
    /// Probability that a positive row scores above a negative one. Ties count half.
    pub auc: Option<Estimate>,
    /// Mean predicted probability of the positive label minus the share of positive labels.
    pub calibration: Option<Estimate>,
    /// The worst gap between two groups in each rate.
    pub gaps: Gaps,
    /// Lowest selection rate of a group as a share of the highest: the 80 % rule asks for at least 0.8.
    pub selection_ratio: Option<Estimate>,
    /// The index of the reference group.
    pub reference: usize,
    /// Metrics of each group, in the order of the schema.
    pub groups: Vec<GroupMetrics>,
}

impl Metrics {
    /// Measures the model `theta` on `rows`.
    pub fn of(theta: &[f64], rows: &Rows) -> Result<Self, Error> {
        let layout = rows.layout();
        let has_own_intercept = !layout.intercept && theta.len() == layout.n() + 1;
        if theta.len() != layout.n() && !has_own_intercept {
            return Err(Error::Features { expected: layout.n(), found: theta.len() });
        }
        let scores: Vec<f64> =
            (0..rows.len()).into_par_iter().map(|i| rows.score(i, theta)).collect();
        Ok(Self::of_scores(&scores, rows, 0.0))
    }

    /// Measures decisions by scores `a·θ`, one per row: a row is selected if its score is above `threshold`.
    pub fn of_scores(scores: &[f64], rows: &Rows, threshold: f64) -> Self {
        let groups = &rows.layout().groups;
        let mut members = vec![Vec::new(); groups.len()];
        for (i, &score) in scores.iter().enumerate() {
            members[rows.group(i)].push((score, rows.is_positive(i)));
        }
        let named = groups.names().par_iter().zip(&members);
        let (by_group, all): (Vec<GroupMetrics>, _) = rayon::join(
            || named.map(|(name, own)| GroupMetrics::of(name.clone(), own, threshold)).collect(),
            || GroupMetrics::of(String::new(), &members.concat(), threshold),
        );
        Self::assemble(all, by_group, groups.reference())
    }

    fn assemble(all: GroupMetrics, mut groups: Vec<GroupMetrics>, reference: usize) -> Self {
        let gaps_to_rest: Vec<Gaps> =
            (0..groups.len()).map(|group| Gaps::to_rest(&groups, group)).collect();
        for (group, gaps) in groups.iter_mut().zip(gaps_to_rest) {
            group.gaps_to_rest = gaps;
        }
        Self {
            rows: all.rows,
            accuracy: all.accuracy,
            balanced_accuracy: all.balanced_accuracy,
            auc: all.auc,
            calibration: all.calibration,
            gaps: Gaps::worst(&groups, reference),
            selection_ratio: gap::selection_ratio(&groups),
            reference,
            groups,
        }
    }

    /// The worst gap of a criterion: over all pairs of groups, and over all conditions that count.
    pub fn gap(&self, fairness: Fairness) -> Option<Gap> {
        let conditions: Vec<_> = fairness.conditions().map(|(condition, _)| condition).collect();
        match conditions[..] {
            [condition] => self.gaps.of(condition).cloned(),
            _ => Gap::worst(&self.groups, self.reference, &conditions),
        }
    }

    /// Why metrics are missing, as text. Usually empty.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for group in &self.groups {
            let name = &group.name;
            if group.rows == 0 {
                missing.push(format!("no row is in the group `{name}`: it has no figures"));
            } else if group.positives == 0 {
                missing.push(format!(
                    "no positive row is in the group `{name}`: it has no true positive rate"
                ));
            } else if group.positives == group.rows {
                missing.push(format!(
                    "no negative row is in the group `{name}`: it has no false positive rate"
                ));
            }
        }
        if self.auc.is_none() {
            missing.push(
                "all rows have the same label: AUC and balanced accuracy are undefined".to_owned(),
            );
        }
        missing
    }
}

/// Whether a score `a·θ` selects its row at the default threshold.
pub fn is_selected(score: f64) -> bool {
    score > 0.0
}

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod tests;
