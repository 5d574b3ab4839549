//! The verdict: whether a model meets its requirements, as far as some rows can tell.
//!
//! A requirement is met if the whole 95 % interval of its figure meets the bound, and missed if the whole interval is on
//! the wrong side. Otherwise these rows cannot tell. One missed requirement fails the model, and one that cannot be
//! decided leaves it undecided.

mod requirements;
mod rows_needed;
mod sentence;
#[cfg(test)]
mod tests;

pub use requirements::{Requirement, Requirements};
pub use sentence::describe_verdict;

pub(crate) use sentence::{about, group_digits, kind_of_rows, list};

use serde::{Deserialize, Serialize};

use crate::fairness::{Condition, Fairness};
use crate::interval::{Estimate, WorstGap, rows_to_exclude};
use crate::metrics::{Gap, GroupMetrics, Metrics};
use rows_needed::{EVEN, is_practical, rows_for_gap};

/// Whether a model meets its requirements, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does.
    Pass,
    /// It does not.
    Fail,
    /// These rows cannot tell.
    Unknown,
    /// Nothing is required.
    None,
}

crate::choices! { Verdict:
    Pass => "pass", "The model meets every requirement";
    Fail => "fail", "The model misses a requirement";
    Unknown => "unknown", "The rows are too few to tell";
    None => "none", "Nothing is required";
}

/// The verdict on one requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// What is required.
    pub requirement: Requirement,
    /// The largest gap or the smallest accuracy allowed.
    pub bound: f64,
    /// Whether it is met. Never [`Verdict::None`].
    pub verdict: Verdict,
    /// The figure with its 95 % interval. A gap is signed. `None` if it cannot be measured.
    pub figure: Option<Estimate>,
    /// For a gap, the two groups: the rate of the first minus that of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<[String; 2]>,
    /// For a gap, the rows among which these rates are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// For a gap, all conditions of the criterion. The gap is the worst one among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// For a gap, the groups without rows of one of the conditions. The figure leaves them out, so nobody can be sure
    /// that the requirement is met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured_groups: Vec<String>,
    /// If these rows cannot tell, about how many could: for a gap, rows of each condition in each group; for the
    /// accuracy, rows; for the balanced accuracy, rows of each label. `None` if the figure is so close to the bound that
    /// nobody would collect that many: more than 10,000, and more than ten times the rows found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_needed: Option<usize>,
}

impl Verdict {
    /// The verdict on all requirements together.
    pub fn of(judgements: &[Judgement]) -> Self {
        let any = |verdict| judgements.iter().any(|judgement| judgement.verdict == verdict);
        match () {
            () if judgements.is_empty() => Self::None,
            () if any(Self::Fail) => Self::Fail,
            () if any(Self::Unknown) => Self::Unknown,
            () => Self::Pass,
        }
    }
}

impl Metrics {
    /// Judges each requirement by these figures. The gap is the worst one of `fairness`.
    pub fn judge(&self, requirements: Requirements, fairness: Fairness) -> Vec<Judgement> {
        let judge = |(requirement, bound)| match requirement {
            Requirement::Gap => judge_gap(self, fairness, bound),
            Requirement::Accuracy => {
                let rows = self.rows as f64;
                let variance = |share: f64| smoothed_variance(share * rows, rows);
                judge_share(requirement, bound, self.accuracy, variance, self.rows)
            }
            Requirement::BalancedAccuracy => {
                let variance = self.balanced_accuracy_variance();
                let positives: usize = self.groups.iter().map(|group| group.positives).sum();
                let found = positives.min(self.rows - positives);
                judge_share(requirement, bound, self.balanced_accuracy, |_| variance, found)
            }
        };
        requirements.iter().map(judge).collect()
    }

    /// The variance of the balanced accuracy with one row of each label.
    fn balanced_accuracy_variance(&self) -> f64 {
        let variance = |condition| {
            let counts = self.groups.iter().map(|group| group.counts(condition));
            let (selected, rows) = counts.fold((0, 0), |sum, c| (sum.0 + c.successes, sum.1 + c.n));
            smoothed_variance(selected as f64, rows as f64)
        };
        0.25 * (variance(Condition::Positives) + variance(Condition::Negatives))
    }
}

/// The gap of a criterion: the worst over all its conditions and all pairs of groups.
fn judge_gap(metrics: &Metrics, fairness: Fairness, bound: f64) -> Judgement {
    let conditions: Vec<Condition> =
        fairness.conditions().map(|(condition, _)| condition).collect();
    let is_missing =
        |group: &&GroupMetrics| conditions.iter().any(|&condition| group.counts(condition).n == 0);
    let unmeasured_groups: Vec<String> =
        metrics.groups.iter().filter(is_missing).map(|group| group.name.clone()).collect();
    let gap = metrics.gap(fairness);
    let verdict = match &gap {
        Some(gap) if gap.low > bound || gap.high < -bound => Verdict::Fail,
        Some(gap) if unmeasured_groups.is_empty() && gap.low >= -bound && gap.high <= bound => {
            Verdict::Pass
        }
        _ => Verdict::Unknown,
    };
    let rows = || match &gap {
        Some(gap) if unmeasured_groups.is_empty() => {
            let rows_of = |name: &String| {
                let group = metrics.groups.iter().find(|group| group.name == *name);
                group.map_or(0, |group| group.counts(gap.condition).n)
            };
            let found = gap.groups.iter().map(rows_of).min().unwrap_or(0);
            rows_for_gap(metrics, &conditions, bound).filter(|&rows| is_practical(rows, found))
        }
        // Enough for a fair model to pass, whatever the rates.
        _ => {
            let equal = vec![EVEN; metrics.groups.len()];
            WorstGap::rows_per_group(&vec![equal; conditions.len()], bound)
        }
    };
    Judgement {
        requirement: Requirement::Gap,
        bound,
        verdict,
        figure: gap.as_ref().map(Gap::estimate),
        rows_needed: if verdict == Verdict::Unknown { rows() } else { None },
        groups: gap.as_ref().map(|gap| gap.groups.clone()),
        condition: gap.map(|gap| gap.condition),
        conditions,
        unmeasured_groups,
    }
}

/// A figure that must be at least `bound`. `variance` is that of one row, at the figure found in `found` rows.
fn judge_share(
    requirement: Requirement,
    bound: f64,
    figure: Option<Estimate>,
    variance: impl Fn(f64) -> f64,
    found: usize,
) -> Judgement {
    let verdict = match figure {
        Some(figure) if figure.high < bound => Verdict::Fail,
        Some(figure) if figure.low >= bound => Verdict::Pass,
        _ => Verdict::Unknown,
    };
    let rows = |figure: Estimate| {
        rows_to_exclude(figure.value - bound, variance(figure.value))
            .filter(|&rows| is_practical(rows, found))
    };
    Judgement {
        requirement,
        bound,
        verdict,
        figure,
        groups: None,
        condition: None,
        conditions: Vec::new(),
        unmeasured_groups: Vec::new(),
        rows_needed: figure.filter(|_| verdict == Verdict::Unknown).and_then(rows),
    }
}

/// The variance of one decision, for a rate of which `selected` of `rows` were found. Two successes and two failures more
/// keep it above 0.
fn smoothed_variance(selected: f64, rows: f64) -> f64 {
    let rate = (selected + 2.0) / (rows + 4.0);
    rate * (1.0 - rate)
}
