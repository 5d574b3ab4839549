//! A model fitted to the client's data with a penalty on differences between groups, for models without a threshold for
//! each group.
//!
//! `F(θ) = (1/N) L(θ) + (r/2)‖θ‖² + (ρ/2) Σ_j ω_j (d_j(θ) − t_j)²`. The terms `d_j` are rates of soft decisions
//! `σ(k a·θ)`: for each condition and group, its rate minus that of all groups; and the share of all rows that are
//! selected, without which the cheapest fair model may select everyone. The goal concerns hard decisions. So the fit is
//! repeated a few times, with `t_j` the goal plus the difference between soft and hard rates at the last model, and `k` in
//! proportion to the spread of that model's scores.
//!
//! A large table is first replaced by a sample of its rows, whose model is a start from which few passes remain.
//!
//! Newton's steps leave out the curvature of `d_j`, so that the Hessian is positive definite.

use std::slice;

use super::super::blocks::scores as scores_of;
use super::DATA_RIDGE;
use super::cell_rates::CellRates;
use super::goal::{Goal, Rates};
use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::linalg::{Cholesky, add_outer_product};
use crate::logistic::dot;
use crate::newton::{Iterate, NewtonSettings, Objective, minimise};
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order};

/// The slope `k` times the standard deviation of the scores. Halving or doubling it changes little.
const RELATIVE_SLOPE: f64 = 4.0;
/// ρ. With a tenth of it, a quarter of the gap remains.
const RHO: f64 = 1e3;
/// `ω_j` of the share selected if there is no intercept. Few models then have that share, and fairness goes first.
const SHARE_WEIGHT_WITHOUT_INTERCEPT: f64 = 1e-2;
/// Rounds of correcting soft rates to hard ones.
const CORRECTIONS: usize = 4;
/// Rows of the sample to which the model of a larger table is fitted first, and fits to the whole table afterwards.
const SAMPLE_ROWS: usize = 1 << 16;
const FITS_AFTER_SAMPLE: usize = 2;
/// When a fit has converged. The rounds of corrections are far less exact.
const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-7, max_iterations: 60, max_trials: 30, value_noise: 1e-13 };

/// The fair model, starting from `start`. `scores` are those of the raw model, `packed` has the same rows as `data`.
pub(super) fn fit_soft_rates(
    data: &Rows,
    packed: &PackedRows,
    scores: &[f64],
    start: Vec<f64>,
    fairness: Fairness,
    goal: &Goal,
) -> Result<Vec<f64>, Error> {
    let terms = Term::all(data, fairness, goal);
    let targets = terms.iter().map(|term| term.goal).collect();
    let mut problem =
        SoftRateFit { data, packed, slope: slope_for(scores), terms: &terms, targets };
    let (mut theta, n_fits) = match sample_of(data) {
        None => (start, 1 + CORRECTIONS),
        Some(sample) => {
            let packed = PackedRows::unmerged(slice::from_ref(&sample))?;
            let scores: Vec<f64> = sample_indices(data.len()).map(|i| scores[i]).collect();
            let theta = fit_soft_rates(&sample, &packed, &scores, start, fairness, goal)?;
            problem.correct(&theta, &scores_of(data, &theta));
            (theta, FITS_AFTER_SAMPLE)
        }
    };
    let mut best: Option<(f64, Vec<f64>)> = None;
    for fit in 1..=n_fits {
        theta = minimise(&problem, problem.at(theta)?, &NEWTON)?.point.theta;
        let scores = scores_of(data, &theta);
        let miss = problem.miss(&scores);
        if best.as_ref().is_none_or(|(smallest, _)| miss < *smallest) {
            best = Some((miss, theta.clone()));
        }
        if fit < n_fits {
            problem.correct(&theta, &scores);
        }
    }
    Ok(best.map_or(theta, |(_, theta)| theta))
}

/// Some rows, evenly spread, for the first fits to a large table. `None` if the table is small.
fn sample_of(data: &Rows) -> Option<Rows> {
    let is_large = data.len() > 2 * SAMPLE_ROWS;
    is_large.then(|| data.select(&sample_indices(data.len()).collect::<Vec<_>>()))
}

fn sample_indices(n_rows: usize) -> impl Iterator<Item = usize> {
    (0..SAMPLE_ROWS).map(move |i| i * n_rows / SAMPLE_ROWS)
}

/// One `d_j`: the rate of a group minus that of all groups, or the rate of all.
struct Term {
    group: Option<usize>,
    condition: Condition,
    /// `ω_j`: the weight of the condition times the group's share of its rows.
    weight: f64,
    goal: f64,
}

impl Term {
    fn all(data: &Rows, fairness: Fairness, goal: &Goal) -> Vec<Self> {
        let cells = data.cell_counts();
        let mut terms = Vec::new();
        for (condition, weight) in fairness.conditions() {
            let count = |cell: &[usize; 2]| -> usize {
                let labels = [false, true].into_iter().zip(cell);
                labels.filter(|(label, _)| condition.includes(*label)).map(|(_, n)| n).sum()
            };
            let all: usize = cells.iter().map(count).sum();
            let together = goal.together[condition as usize];
            for (group, cell) in cells.iter().enumerate() {
                if let (Some(own), Some(together)) =
                    (goal.by_group[group][condition as usize], together)
                {
                    let weight = weight * count(cell) as f64 / all.max(1) as f64;
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

struct SoftRateFit<'a> {
    data: &'a Rows,
    packed: &'a PackedRows,
    slope: f64,
    terms: &'a [Term],
    /// `t_j`.
    targets: Vec<f64>,
}

/// What the Hessian is computed from.
struct State {
    /// The Hessian of the loss, the lower triangle row by row.
    loss_hessian: Vec<f64>,
    /// `∂d_j/∂θ`.
    slopes: Vec<Vec<f64>>,
}

impl SoftRateFit<'_> {
    /// How far the hard decisions of a model with these scores are from the goal.
    fn miss(&self, scores: &[f64]) -> f64 {
        let hard = self.hard_values(scores);
        let terms = self.terms.iter().zip(&hard);
        terms.map(|(term, hard)| term.weight * (hard - term.goal).powi(2)).sum()
    }

    /// Corrects the targets by the difference between soft and hard rates of this model.
    fn correct(&mut self, theta: &[f64], scores: &[f64]) {
        self.slope = slope_for(scores);
        let (soft, hard) = (self.soft_values(theta).0, self.hard_values(scores));
        let corrections = soft.iter().zip(&hard).map(|(soft, hard)| soft - hard);
        self.targets = self.terms.iter().zip(corrections).map(|(t, by)| t.goal + by).collect();
    }

    /// `d_j` of soft decisions, and the gradients.
    fn soft_values(&self, theta: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let rates = CellRates::at(self.data, self.slope, theta);
        let of = |term: &Term| {
            let own = rates.rate(term.group, term.condition);
            let all = rates.rate(None, term.condition);
            match (own, all) {
                (Some(own), Some(all)) if term.group.is_some() => {
                    let slope = own.slope.iter().zip(&all.slope).map(|(a, b)| a - b).collect();
                    (own.value - all.value, slope)
                }
                (Some(own), _) => (own.value, own.slope),
                (None, _) => (0.0, vec![0.0; theta.len()]),
            }
        };
        self.terms.iter().map(of).unzip()
    }

    /// `d_j` of hard decisions.
    fn hard_values(&self, scores: &[f64]) -> Vec<f64> {
        let rates = Rates::of(self.data, scores, 0.0);
        let together = rates.together();
        let of = |term: &Term| {
            let all = together[term.condition as usize].unwrap_or(0.0);
            match term.group {
                Some(group) => rates.of_group(group, term.condition).unwrap_or(all) - all,
                None => all,
            }
        };
        self.terms.iter().map(of).collect()
    }
}

impl Objective for SoftRateFit<'_> {
    type State = State;

    fn at(&self, theta: Vec<f64>) -> Result<Iterate<State>, Error> {
        let n_rows = self.data.len() as f64;
        let statistics = self.packed.evaluate(&theta, Order::Hessian)?;
        let (values, slopes) = self.soft_values(&theta);
        let mut value =
            statistics.weighted_loss(&[1.0]) / n_rows + 0.5 * DATA_RIDGE * dot(&theta, &theta);
        let loss = statistics.gradient(0).iter();
        let mut gradient: Vec<f64> =
            loss.zip(&theta).map(|(g, t)| g / n_rows + DATA_RIDGE * t).collect();
        for (j, term) in self.terms.iter().enumerate() {
            let miss = values[j] - self.targets[j];
            value += 0.5 * RHO * term.weight * miss * miss;
            let factor = RHO * term.weight * miss;
            gradient.iter_mut().zip(&slopes[j]).for_each(|(g, s)| *g += factor * s);
        }
        let loss_hessian = statistics.hessian(0).iter().map(|h| h / n_rows).collect();
        Ok(Iterate { theta, value, gradient, state: State { loss_hessian, slopes } })
    }

    fn hessian_factor(&self, point: &Iterate<State>) -> Result<Cholesky, Error> {
        let mut hessian = point.state.loss_hessian.clone();
        for (term, slope) in self.terms.iter().zip(&point.state.slopes) {
            add_outer_product(&mut hessian, RHO * term.weight, slope);
        }
        Cholesky::new(&hessian, point.theta.len(), DATA_RIDGE)
    }
}

/// The slope of soft decisions about these scores.
fn slope_for(scores: &[f64]) -> f64 {
    let deviation = standard_deviation(scores);
    if deviation > 0.0 { RELATIVE_SLOPE / deviation } else { 1.0 }
}

fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests;
