//! Thresholds for each group, chosen on the root, applied to the model of all proxies.
//!
//! Source: M. Hardt, E. Price, N. Srebro, "Equality of opportunity in supervised learning", NeurIPS 2016: of all
//! thresholds under which the groups have equal rates, the ones with the lowest loss; here with the highest accuracy.
//!
//! One round: the scores are those of the pooled model, the rows those of the root. Candidates are common thresholds u:
//! the rates to reach are those of all root rows at u, and each group takes the threshold whose rates are nearest,
//! conditions counting by their weight. The publication reaches equalised odds with random decisions; without them,
//! thresholds can only come near. Of equally accurate u, the one nearest 0 wins. At most 256 are tried.
//!
//! A group that the root cannot tell anything about takes u itself. A blind model has one threshold for all groups, so
//! it stays as it is: the pooled model. Without an intercept, the first group's threshold is fixed at 0, and the others
//! reach its rates.

use equipoise_core::{Condition, Fairness, InnerSettings, Layout, Rows, fit_logistic};

use super::vectors::dot;
use super::{RivalInput, RivalModel};
use crate::error::Error;

const MAX_CANDIDATES: usize = 256;

pub(super) fn run(input: &RivalInput<'_>) -> Result<RivalModel, Error> {
    let pooled = Rows::concat(&input.proxies)?;
    let mut theta = fit_logistic(&pooled, input.lambda, &InnerSettings::default())?;
    let layout = pooled.layout();
    if layout.as_feature {
        let cuts = choose_cuts(&theta, &input.root()?, input.fairness);
        apply(&cuts, layout, &mut theta);
    }
    Ok(RivalModel { theta, weights: None })
}

/// Moves each group's threshold to 0, where a model decides.
fn apply(cuts: &[f64], layout: &Layout, theta: &mut [f64]) {
    if layout.intercept {
        theta[layout.n() - 1] -= cuts[0];
    }
    for (position, cut) in layout.indicators().zip(&cuts[1..]) {
        theta[position] -= cut - cuts[0];
    }
}

/// The threshold of each group.
fn choose_cuts(theta: &[f64], root: &Rows, fairness: Fairness) -> Vec<f64> {
    let layout = root.layout();
    let mut members = vec![Vec::new(); layout.groups.len()];
    for i in 0..root.len() {
        members[root.group(i)].push((dot(root.a(i), theta), root.is_positive(i)));
    }
    let all = Selections::new(members.concat());
    let groups: Vec<Selections> = members.into_iter().map(Selections::new).collect();
    if !layout.intercept {
        let first = if groups[0].is_empty() { &all } else { &groups[0] };
        let goal = first.rates(first.at(0.0));
        let others = groups[1..].iter().map(|group| group.nearest(&goal, 0.0, fairness).0);
        return [0.0].into_iter().chain(others).collect();
    }
    let mut best: Option<(usize, f64, Vec<f64>)> = None;
    for common in all.candidates() {
        let goal = all.rates(all.at(common));
        let chosen: Vec<(f64, usize)> =
            groups.iter().map(|group| group.nearest(&goal, common, fairness)).collect();
        let correct = chosen.iter().map(|(_, correct)| correct).sum();
        let is_better = best.as_ref().is_none_or(|(most, at, _)| {
            correct > *most || (correct == *most && common.abs() < at.abs())
        });
        if is_better {
            best = Some((correct, common, chosen.iter().map(|(cut, _)| *cut).collect()));
        }
    }
    best.map_or_else(|| vec![0.0; groups.len()], |(_, _, cuts)| cuts)
}

/// The rows of a group, and how many are selected by each threshold.
struct Selections {
    /// In descending order.
    scores: Vec<f64>,
    /// Positive rows among the first k.
    positives: Vec<usize>,
}

impl Selections {
    fn new(mut members: Vec<(f64, bool)>) -> Self {
        members.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut positives = vec![0];
        let mut count = 0;
        for (_, is_positive) in &members {
            count += usize::from(*is_positive);
            positives.push(count);
        }
        Self { scores: members.into_iter().map(|(score, _)| score).collect(), positives }
    }

    fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The number of rows that are selected by a threshold.
    fn at(&self, cut: f64) -> usize {
        self.scores.partition_point(|score| *score > cut)
    }

    /// A threshold that selects the first k rows, if there is one: halfway between the scores.
    fn cut(&self, k: usize) -> Option<f64> {
        match (k.checked_sub(1).map(|last| self.scores[last]), self.scores.get(k)) {
            (Some(last), Some(next)) => (last > *next).then_some(0.5 * (last + next)),
            (None, Some(next)) => Some(next + 1.0),
            (Some(last), None) => Some(last - 1.0),
            (None, None) => None,
        }
    }

    /// Thresholds that select different rows, evenly spread over the ranks; 0 as well.
    fn candidates(&self) -> impl Iterator<Item = f64> + '_ {
        let n = self.scores.len();
        let steps = n.min(MAX_CANDIDATES - 2);
        (0..=steps).filter_map(move |i| self.cut(i * n / steps.max(1))).chain([0.0])
    }

    /// The rate of each condition if the first k rows are selected. `None` if it has no rows.
    fn rates(&self, k: usize) -> [Option<f64>; 3] {
        let (n, n_positive) = (self.scores.len(), self.positives[self.scores.len()]);
        let rate = |selected: usize, n: usize| (n > 0).then(|| selected as f64 / n as f64);
        Condition::ALL.map(|condition| match condition {
            Condition::All => rate(k, n),
            Condition::Positives => rate(self.positives[k], n_positive),
            Condition::Negatives => rate(k - self.positives[k], n - n_positive),
        })
    }

    /// The threshold with rates nearest `goal`, the nearest to `common` of them, and the number of labels it predicts.
    fn nearest(&self, goal: &[Option<f64>; 3], common: f64, fairness: Fairness) -> (f64, usize) {
        let distance = |k: usize| -> Option<f64> {
            let rates = self.rates(k);
            let terms = fairness.conditions().filter_map(|(condition, weight)| {
                let (own, goal) = (rates[condition as usize], goal[condition as usize]);
                Some(weight * (own? - goal?).abs())
            });
            terms.reduce(|a, b| a + b)
        };
        let mut best = (f64::INFINITY, common);
        for k in 0..=self.scores.len() {
            if let (Some(cut), Some(distance)) = (self.cut(k), distance(k)) {
                let is_nearer = (cut - common).abs() < (best.1 - common).abs();
                if distance < best.0 || (distance == best.0 && is_nearer) {
                    best = (distance, cut);
                }
            }
        }
        (best.1, self.correct(self.at(best.1)))
    }

    /// The number of labels that are predicted if the first k rows are selected.
    fn correct(&self, k: usize) -> usize {
        let (n, n_positive) = (self.scores.len(), self.positives[self.scores.len()]);
        let negatives_selected = k - self.positives[k];
        self.positives[k] + (n - n_positive) - negatives_selected
    }
}

#[cfg(test)]
mod tests;
