//! The rates of new labels at which the decisions of the fitted model are fair.
//!
//! Equal rates of labels make decisions only roughly equal: a model selects where most labels are positive, not as often as labels are. So the rates that the
//! linear program is given are corrected: after each try, by how much the model's decisions on the client's data are off.

use super::super::target::{Goal, Rates};
use super::cells::Cells;
use super::mapping::RateLimit;
use crate::fairness::Condition;
use crate::rows::Rows;

/// By how much a rate of labels changes for each unit of the rate of decisions, at least and at most.
const SLOPES: (f64, f64) = (0.2, 2.0);

/// The rate of labels to aim at, for each group with rows.
pub(super) struct Aims(Vec<Aim>);

struct Aim {
    group: usize,
    /// `P(x | s)`.
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
    pub(super) fn new(rows: &Rows, cells: &Cells, goal: &Goal, remaining_gap: f64) -> Self {
        let mut counts = vec![vec![[0.0f64; 2]; cells.len()]; rows.layout().groups.len()];
        for (i, &cell) in cells.of_rows().iter().enumerate() {
            counts[rows.group(i)][cell][usize::from(rows.is_positive(i))] += 1.0;
        }
        let n_of = |[negative, positive]: &[f64; 2]| negative + positive;
        let sizes: Vec<f64> = counts.iter().map(|cells| cells.iter().map(n_of).sum()).collect();
        let share = |cell: &[f64; 2]| n_of(cell) * (cell[1] / n_of(cell).max(1.0));
        let sums: Vec<f64> = counts.iter().map(|cells| cells.iter().map(share).sum()).collect();
        let together = sums.iter().sum::<f64>() / sizes.iter().sum::<f64>();
        let aim = |(group, cells): (usize, &Vec<[f64; 2]>)| {
            let goal = goal.by_group[group][Condition::All as usize]?;
            let own = sums[group] / sizes[group];
            let rate = (together + remaining_gap * (own - together)).clamp(0.0, 1.0);
            let cells = cells.iter().map(|cell| n_of(cell) / sizes[group].max(1.0)).collect();
            Some(Aim { group, cells, rate, goal, last: None })
        };
        Self(counts.iter().enumerate().filter_map(aim).collect())
    }

    pub(super) fn limits(&self) -> Vec<RateLimit> {
        let limit =
            |aim: &Aim| RateLimit { group: aim.group, cells: aim.cells.clone(), rate: aim.rate };
        self.0.iter().map(limit).collect()
    }

    /// Moves the aims to where `decisions` should be the goal's: by a secant, once there are two tries.
    pub(super) fn correct(&mut self, decisions: &Rates) {
        for aim in &mut self.0 {
            let Some(found) = decisions.of_group(aim.group, Condition::All) else { continue };
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

#[cfg(test)]
mod tests;
