//! The rates of new labels at which the decisions of the fitted model are fair.
//!
//! Equal rates of labels make decisions only roughly equal: a model selects where most labels are positive, not as often as labels are. So the rates that the
//! linear program is given are corrected: after each try, by how much the model's decisions on the client's data are off.

use super::super::target::{Goal, Rates};
use super::cells::Cells;
use super::mapping::RateLimit;
use crate::fairness::{Condition, Fairness};
use crate::rows::Rows;

/// By how much a rate of labels changes for each unit of the rate of decisions, at least and at most.
const SLOPES: (f64, f64) = (0.2, 2.0);

/// The rates of labels to aim at, one for each group and condition that counts.
pub(super) struct Aims(Vec<Aim>);

struct Aim {
    group: usize,
    condition: Condition,
    /// `P(x | s)` among the people of the condition.
    cells: Vec<f64>,
    /// Of labels.
    rate: f64,
    /// Of decisions.
    goal: f64,
    /// The last rate, and the rate of decisions it led to.
    last: Option<(f64, f64)>,
}

impl Aims {
    /// All groups' rates of labels are to be those of all people together, but for the share of the difference that remains, and
    /// those of decisions what `goal` says.
    pub(super) fn new(
        rows: &Rows,
        cells: &Cells,
        goal: &Goal,
        fairness: Fairness,
        remaining_gap: f64,
    ) -> Self {
        let positive = positive_shares(rows, cells);
        let mut aims = Vec::new();
        for (condition, _) in fairness.conditions() {
            let rates: Vec<LabelRate> = (0..rows.layout().groups.len())
                .map(|group| LabelRate::of(rows, cells, group, condition, &positive[group]))
                .collect();
            let n_rows: f64 = rates.iter().map(|rate| rate.n_rows).sum();
            let together = rates.iter().map(|rate| rate.sum).sum::<f64>() / n_rows;
            for (group, LabelRate { n_rows, sum, cells }) in rates.into_iter().enumerate() {
                let Some(goal) = goal.by_group[group][condition as usize] else { continue };
                let rate = (together + remaining_gap * (sum / n_rows - together)).clamp(0.0, 1.0);
                aims.push(Aim { group, condition, cells, rate, goal, last: None });
            }
        }
        Self(aims)
    }

    pub(super) fn limits(&self) -> Vec<RateLimit> {
        let limit = |aim: &Aim| RateLimit {
            group: aim.group,
            cells: aim.cells.clone(),
            rate: aim.rate,
            max_gap: 0.0,
        };
        self.0.iter().map(limit).collect()
    }

    /// Moves the aims to where `decisions` should be the goal's: by a secant, once there are two tries.
    pub(super) fn correct(&mut self, decisions: &Rates) {
        for aim in &mut self.0 {
            let Some(found) = decisions.of_group(aim.group, aim.condition) else { continue };
            let slope = match aim.last {
                Some((rate, decided)) if decided != found => (aim.rate - rate) / (found - decided),
                _ => 1.0,
            };
            aim.last = Some((aim.rate, found));
            let step = slope.clamp(SLOPES.0, SLOPES.1) * (aim.goal - found);
            aim.rate = (aim.rate + step).clamp(0.0, 1.0);
        }
    }
}

/// The share of positive labels, by group and cell.
fn positive_shares(rows: &Rows, cells: &Cells) -> Vec<Vec<f64>> {
    let mut counts = vec![vec![[0.0f64; 2]; cells.len()]; rows.layout().groups.len()];
    for (i, &cell) in cells.of_rows().iter().enumerate() {
        counts[rows.group(i)][cell][usize::from(rows.is_positive(i))] += 1.0;
    }
    let share = |[negative, positive]: &[f64; 2]| positive / (negative + positive).max(1.0);
    counts.iter().map(|cells| cells.iter().map(share).collect()).collect()
}

/// The rate at which people who look like those of a group and condition have positive labels.
struct LabelRate {
    n_rows: f64,
    sum: f64,
    /// Shares of cells.
    cells: Vec<f64>,
}

impl LabelRate {
    fn of(
        rows: &Rows,
        cells: &Cells,
        group: usize,
        condition: Condition,
        positive: &[f64],
    ) -> Self {
        let mut counts = vec![0.0; cells.len()];
        let counted =
            |i: &usize| rows.group(*i) == group && condition.includes(rows.is_positive(*i));
        (0..rows.len()).filter(counted).for_each(|i| counts[cells.of_rows()[i]] += 1.0);
        let n_rows: f64 = counts.iter().sum();
        let sum = counts.iter().zip(positive).map(|(n, share)| n * share).sum();
        let cells = counts.iter().map(|n| n / n_rows.max(1.0)).collect();
        Self { n_rows, sum, cells }
    }
}

#[cfg(test)]
mod tests;
