//! The rates of new labels at which the decisions of the fitted model are fair.
//!
//! Equal rates of labels make decisions only roughly equal: a model selects where most labels are positive, not as often as labels are. So the rates that the
//! linear program is given are corrected: after each try, by how much the model's decisions on the client's data are off.

use super::super::target::{Goal, Rates};
use crate::fairness::Condition;
use crate::rows::Rows;

/// By how much a rate of labels changes for each unit of the rate of decisions, at least and at most.
const SLOPES: (f64, f64) = (0.2, 2.0);

/// The rate of labels to aim at, for each group with rows.
pub(super) struct Aims(Vec<Aim>);

struct Aim {
    group: usize,
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
    pub(super) fn new(rows: &Rows, goal: &Goal, remaining_gap: f64) -> Self {
        let counts = rows.cell_counts();
        let positives: usize = counts.iter().map(|cell| cell[1]).sum();
        let together = positives as f64 / rows.len() as f64;
        let groups = counts.iter().zip(&goal.by_group).enumerate();
        let aim = |(group, ([negatives, positives], goal)): (usize, (&[usize; 2], &[_; 3]))| {
            let own = *positives as f64 / (negatives + positives) as f64;
            let rate = (together + remaining_gap * (own - together)).clamp(0.0, 1.0);
            let goal: Option<f64> = goal[Condition::All as usize];
            Some(Aim { group, rate, goal: goal?, last: None })
        };
        Self(groups.filter_map(aim).collect())
    }

    /// Groups and rates.
    pub(super) fn rates(&self) -> Vec<(usize, f64)> {
        self.0.iter().map(|aim| (aim.group, aim.rate)).collect()
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
