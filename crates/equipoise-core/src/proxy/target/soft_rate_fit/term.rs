//! The rates that the fit is about: those of each group, and the share selected.

use super::super::goal::Goal;
use crate::fairness::{Condition, Fairness};
use crate::rows::Rows;

/// `ω_j` of the share selected if there is no intercept. Few models then have that share, and fairness goes first.
const SHARE_WEIGHT_WITHOUT_INTERCEPT: f64 = 1e-2;

/// One `d_j`: the rate of a group minus that of all groups, or the rate of all.
pub(super) struct Term {
    pub(super) group: Option<usize>,
    pub(super) condition: Condition,
    /// `ω_j`: the weight of the condition times the group's share of its rows.
    pub(super) weight: f64,
    pub(super) goal: f64,
}

impl Term {
    pub(super) fn all(data: &Rows, fairness: Fairness, goal: &Goal) -> Vec<Self> {
        let cells = data.cell_counts();
        let mut terms = Vec::new();
        for (condition, weight) in fairness.conditions() {
            let all: usize = cells.iter().map(|cell| condition.count(*cell)).sum();
            let together = goal.together[condition as usize];
            for (group, cell) in cells.iter().enumerate() {
                if let (Some(own), Some(together)) =
                    (goal.by_group[group][condition as usize], together)
                {
                    let weight = weight * condition.count(*cell) as f64 / all.max(1) as f64;
                    terms.push(Self {
                        group: Some(group),
                        condition,
                        weight,
                        goal: own - together,
                    });
                }
            }
        }
        let weight = if data.layout().intercept { 1.0 } else { SHARE_WEIGHT_WITHOUT_INTERCEPT };
        let condition = Condition::All;
        terms.push(Self { group: None, condition, weight, goal: goal.overall });
        terms
    }
}

/// How far hard rates are from their goals: the largest difference between two groups' misses under a condition, plus the
/// miss of the share selected. A group of few rows counts as much as any other, as it does in a gap.
pub(super) fn worst_miss(terms: &[Term], hard: &[f64]) -> f64 {
    let misses = || terms.iter().zip(hard).map(|(term, hard)| (term, hard - term.goal));
    let spread = |condition: Condition| {
        let of = misses().filter(|(term, _)| term.group.is_some() && term.condition == condition);
        let ends = of.map(|(_, miss)| miss).fold(None, |ends: Option<(f64, f64)>, miss| {
            Some(ends.map_or((miss, miss), |(low, high)| (low.min(miss), high.max(miss))))
        });
        ends.map_or(0.0, |(low, high)| high - low)
    };
    let share: f64 = misses()
        .filter(|(term, _)| term.group.is_none())
        .map(|(term, miss)| term.weight * miss.abs())
        .sum();
    Condition::ALL.into_iter().map(spread).fold(0.0, f64::max) + share
}
