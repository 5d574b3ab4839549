//! One shift of all groups' goals, so that their rates can be rounded alike.
//!
//! A rate moves in steps: of one row, or of all rows with the same score. If every group takes the rate closest to its
//! own goal, their gap misses its goal by up to half a step of each. But fairness is about the gap, and the rate of all is
//! a matter of taste to a fraction of a percent. So the goals of all groups move by the same small shift, to where the
//! groups' closest rates miss them by nearly the same.

use rayon::prelude::*;

use super::goal::Goal;
use crate::fairness::{Condition, Fairness};
use crate::rows::Rows;

/// The largest shift: half a row of a group of 17.
const MAX_SHIFT: f64 = 0.03;
/// The largest change of the share selected, among the rows that count. Equal scores may turn a small shift into a large one.
const MAX_MOVED: f64 = 0.004;
/// A shift must make the gap more exact by at least this share of itself.
const PRICE: f64 = 0.1;
/// A proxy promises its gap to 0.002. A miss below this needs no shift, which may itself cost a little.
const NEGLIGIBLE: f64 = 1.5e-3;
/// A group with more rates than this near its goal can follow any shift, so its own rates need not be tried.
const MANY: usize = 1000;

/// The goal with the rates of all groups shifted, if one condition decides. Several conditions cannot all be met exactly
/// by one threshold for each group.
pub(super) fn shifted(data: &Rows, scores: &[f64], fairness: Fairness, goal: &Goal) -> Goal {
    let conditions: Vec<Condition> =
        fairness.conditions().map(|(condition, _)| condition).collect();
    let [condition] = conditions[..] else { return goal.clone() };
    let groups: Vec<Steps> = (0..goal.by_group.len())
        .into_par_iter()
        .filter_map(|group| Steps::new(data, scores, group, condition, goal))
        .collect();
    let shift = best_shift(&groups);
    let mut goal = goal.clone();
    for rates in &mut goal.by_group {
        if let Some(rate) = &mut rates[condition as usize] {
            *rate = (*rate + shift).clamp(0.0, 1.0);
        }
    }
    goal
}

/// The rates that the thresholds of one group can give it.
struct Steps {
    goal: f64,
    /// Rows that count.
    n_rows: f64,
    /// In ascending order.
    rates: Vec<f64>,
}

impl Steps {
    /// `None` if the group has no rows that count.
    fn new(
        data: &Rows,
        scores: &[f64],
        group: usize,
        condition: Condition,
        goal: &Goal,
    ) -> Option<Self> {
        let goal = goal.by_group[group][condition as usize]?;
        let counts =
            |i: &usize| data.group(*i) == group && condition.includes(data.is_positive(*i));
        let mut own: Vec<f64> = (0..scores.len()).filter(counts).map(|i| scores[i]).collect();
        own.par_sort_unstable_by(|a, b| b.total_cmp(a));
        let n = own.len();
        // The highest rows are selected first, and equal scores together.
        let is_step = |selected: &usize| {
            *selected == 0 || *selected == n || own[selected - 1] != own[*selected]
        };
        let rates = (0..=n).filter(is_step).map(|selected| selected as f64 / n as f64);
        (n > 0).then(|| Self { goal, n_rows: n as f64, rates: rates.collect() })
    }

    /// By how much the closest rate to the shifted goal is above the goal.
    fn miss(&self, shift: f64) -> f64 {
        let wanted = (self.goal + shift).clamp(0.0, 1.0);
        let above = self.rates.partition_point(|rate| *rate < wanted);
        let around = self.rates[above.saturating_sub(1)..].iter().take(2);
        let distance = |rate: &f64| (rate - wanted).abs();
        let closest =
            around.copied().reduce(|a, b| if distance(&b) < distance(&a) { b } else { a });
        closest.map_or(0.0, |rate| rate - self.goal)
    }

    /// The shifts at which one of its rates is exact.
    fn shifts(&self) -> Vec<f64> {
        let first = self.rates.partition_point(|rate| *rate < self.goal - MAX_SHIFT);
        let end = self.rates.partition_point(|rate| *rate <= self.goal + MAX_SHIFT);
        let near = if end - first > MANY { &[] } else { &self.rates[first..end] };
        near.iter().map(|rate| rate - self.goal).collect()
    }
}

/// The shift that makes the misses of the groups most alike, at its price.
fn best_shift(groups: &[Steps]) -> f64 {
    let cost = |shift: f64| {
        let (low, high) = groups
            .iter()
            .map(|group| group.miss(shift))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), miss| {
                (low.min(miss), high.max(miss))
            });
        (high - low).max(NEGLIGIBLE) + PRICE * shift.abs()
    };
    let selected =
        |shift: f64| -> f64 { groups.iter().map(|group| group.n_rows * group.miss(shift)).sum() };
    let limit = MAX_MOVED * groups.iter().map(|group| group.n_rows).sum::<f64>();
    let unshifted = selected(0.0);
    let few_move = |shift: &f64| (selected(*shift) - unshifted).abs() <= limit;
    let shifts = groups.iter().flat_map(Steps::shifts).filter(few_move);
    let tried = shifts.map(|shift| (cost(shift), shift));
    let none = (cost(0.0), 0.0);
    tried.fold(none, |best, next| if next.0 < best.0 { next } else { best }).1
}

#[cfg(test)]
mod tests;
