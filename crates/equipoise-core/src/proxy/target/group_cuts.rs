//! One threshold for each group, so that the groups' rates come as close to the goal as their scores allow.

use rayon::prelude::*;

use super::goal::Goal;
use crate::fairness::{Condition, Fairness};
use crate::rows::{Layout, Rows};

/// The score above which the rows of each group should be selected.
///
/// The cut of a group minimises `Σ_C ω_C (rate_C − goal_C)²` over the conditions `C` of the criterion. It lies halfway
/// between two scores, or at 0 if the model's own threshold is as good. Scores of a group without rows of any condition
/// are cut as far from their mean as those of the other groups; a group without any rows is cut at 0.
pub(super) fn group_cuts(data: &Rows, scores: &[f64], fairness: Fairness, goal: &Goal) -> Vec<f64> {
    let n_groups = data.layout().groups.len();
    let mut members: Vec<Vec<Scored>> = vec![Vec::new(); n_groups];
    for (i, &score) in scores.iter().enumerate() {
        members[data.group(i)].push(Scored { score, is_positive: data.is_positive(i) });
    }
    let means: Vec<Option<f64>> = members.iter().map(|own| mean(own)).collect();
    let cuts: Vec<Option<f64>> = members
        .into_par_iter()
        .zip(&goal.by_group)
        .map(|(own, goal)| best_cut(own, fairness, goal))
        .collect();
    let known = cuts.iter().zip(&means).filter_map(|(cut, mean)| Some((*cut)? - (*mean)?));
    let (sum, count) = known.fold((0.0, 0.0), |(sum, count), shift| (sum + shift, count + 1.0));
    let shift = if count > 0.0 { sum / count } else { 0.0 };
    let filled = cuts.iter().zip(&means);
    filled.map(|(cut, mean)| cut.or(mean.map(|mean| mean + shift)).unwrap_or(0.0)).collect()
}

/// The model with the scores of each group lowered by its cut. The layout must have an intercept and indicators.
pub(crate) fn move_cuts(theta: &[f64], layout: &Layout, cuts: &[f64]) -> Vec<f64> {
    let mut moved = theta.to_vec();
    if let Some(intercept) = moved.last_mut() {
        *intercept -= cuts[0];
    }
    for (coefficient, cut) in moved[layout.indicators()].iter_mut().zip(&cuts[1..]) {
        *coefficient -= cut - cuts[0];
    }
    moved
}

#[derive(Clone, Copy)]
struct Scored {
    score: f64,
    is_positive: bool,
}

fn mean(scored: &[Scored]) -> Option<f64> {
    let sum: f64 = scored.iter().map(|row| row.score).sum();
    (!scored.is_empty()).then(|| sum / scored.len() as f64)
}

/// The best cut of one group, or `None` if the criterion counts none of its rows.
fn best_cut(mut scored: Vec<Scored>, fairness: Fairness, goal: &[Option<f64>; 3]) -> Option<f64> {
    let conditions: Vec<(Condition, f64)> = fairness.conditions().collect();
    scored.retain(|row| conditions.iter().any(|(c, _)| c.includes(row.is_positive)));
    scored.par_sort_unstable_by(|a, b| b.score.total_cmp(&a.score));
    let n_rows = |label: bool| scored.iter().filter(|row| row.is_positive == label).count() as f64;
    let rows = [n_rows(false), n_rows(true)];
    let cost = |selected: [f64; 2]| -> f64 {
        let of = |&(condition, weight): &(Condition, f64)| {
            let goal = goal[condition as usize]?;
            let counted = |by_label: [f64; 2]| -> f64 {
                let labels = [false, true].into_iter().zip(by_label);
                labels.filter(|(label, _)| condition.includes(*label)).map(|(_, n)| n).sum()
            };
            Some(weight * (counted(selected) / counted(rows) - goal).powi(2))
        };
        conditions.iter().filter_map(of).sum()
    };
    let (first, last) = (scored.first()?.score, scored.last()?.score);

    // Rows are selected one by one, from the highest score. Equal scores are selected together.
    let mut selected = [0.0, 0.0];
    let mut best: Option<(f64, f64)> = None;
    let mut own_cost = None;
    for (i, row) in scored.iter().enumerate() {
        let above = if i == 0 { None } else { Some(scored[i - 1].score) };
        if above != Some(row.score) {
            let cut = match above {
                Some(above) => row.score + 0.5 * (above - row.score),
                None => first + half_step(scored.iter()),
            };
            let cost = cost(selected);
            if above.is_none_or(|above| above > 0.0) && row.score <= 0.0 {
                own_cost = Some(cost);
            }
            if best.is_none_or(|(lowest, _)| cost < lowest) {
                best = Some((cost, cut));
            }
        }
        selected[usize::from(row.is_positive)] += 1.0;
    }
    let everyone = cost(selected);
    if last > 0.0 {
        own_cost = Some(everyone);
    }
    let (lowest, cut) = best?;
    if own_cost.is_some_and(|own| own <= lowest && own <= everyone) {
        return Some(0.0);
    }
    Some(if everyone < lowest { last - half_step(scored.iter().rev()) } else { cut })
}

/// Half the distance between the first two different scores, or 1 if all are equal.
fn half_step<'a>(mut scored: impl Iterator<Item = &'a Scored>) -> f64 {
    let Some(first) = scored.next() else { return 1.0 };
    let next = scored.find(|row| row.score != first.score);
    next.map_or(1.0, |next| 0.5 * (first.score - next.score).abs())
}

#[cfg(test)]
mod tests;
