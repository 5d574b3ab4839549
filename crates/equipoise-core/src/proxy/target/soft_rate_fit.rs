//! A model fitted to the client's data with a penalty on differences between groups, for models without a threshold for
//! each group.
//!
//! `F(θ) = (1/N) L(θ) + (r/2)‖θ‖² + (ρ/2) Σ_j ω_j (d_j(θ) − t_j)²`. The terms `d_j` are rates of soft decisions
//! `σ(k a·θ)`: for each condition and group, its rate minus that of all groups; and the share of all rows that are
//! selected, without which the cheapest fair model may select everyone. The slope `k` is in inverse proportion to the
//! spread of the scores, so the `d_j` depend on the direction of `θ` only. With a fixed slope, a model of scores near 0
//! would have equal soft rates, whatever its decisions. The goal concerns hard decisions. So the fit is repeated a few
//! times, each time with `t_j` moved by what the hard rates of the last model are short of the goal. That corrects both
//! the difference between soft and hard rates and what the loss gains by missing `t_j`.
//!
//! A large table is first replaced by a sample of its rows, whose model is a start from which few passes remain.
//!
//! Newton's steps leave out the curvature of `d_j`, so that the Hessian is positive definite.
//!
//! Few features cannot always make the rates of several groups equal and still predict the label. The scores of such a
//! model are nearly 0, and rows of usual size could not determine it. It is enlarged, which changes no decision.

mod term;

use std::slice;

use super::super::blocks::{add, map_blocks, scores as scores_of};
use super::super::own_model::{DATA_RIDGE, Penalty};
use super::cell_rates::CellRates;
use super::goal::{Goal, Rates};
use crate::error::Error;
use crate::fairness::Fairness;
use crate::kernel::OuterProducts;
use crate::linalg::{Cholesky, add_outer_product};
use crate::logistic::dot;
use crate::newton::{Iterate, NewtonSettings, Objective, minimise};
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order};
use term::{Term, worst_miss};

/// `κ`: the slope `k` times the standard deviation of the scores. Halving or doubling it changes little.
const RELATIVE_SLOPE: f64 = 4.0;
/// ρ. With a tenth of it, a quarter of the gap remains.
const RHO: f64 = 1e3;
/// The smallest spread of the scores, as a share of the raw model's.
const MIN_SPREAD: f64 = 0.2;
/// Rounds of correcting soft rates to hard ones, at most.
const CORRECTIONS: usize = 12;
/// A worst miss that needs no correction: gaps are printed to three digits.
const EXACT: f64 = 5e-4;
/// Rows of the sample to which the model of a larger table is fitted first, and fits to the whole table afterwards.
const SAMPLE_ROWS: usize = 1 << 16;
const FITS_AFTER_SAMPLE: usize = 2;
/// When a fit has converged. The rounds of corrections are far less exact.
const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-5, max_iterations: 60, max_trials: 30, value_noise: 1e-13 };

/// The fair model, starting from `start`. `raw` is the model of the data, and `packed` has the same rows as `data`.
pub(super) fn fit_soft_rates(
    data: &Rows,
    packed: &PackedRows,
    raw: &[f64],
    penalty: Penalty,
    start: Vec<f64>,
    fairness: Fairness,
    goal: &Goal,
) -> Result<Vec<f64>, Error> {
    let terms = Term::all(data, fairness, goal);
    let covariance = covariance(data);
    let min_variance = MIN_SPREAD * MIN_SPREAD * variance_of_scores(&covariance, raw);
    let targets = terms.iter().map(|term| term.goal).collect();
    let mut problem = SoftRateFit { data, packed, penalty, covariance, terms: &terms, targets };
    let mut theta = match data.thinned(SAMPLE_ROWS) {
        None => problem.fit_hard_rates(start, 1 + CORRECTIONS)?.theta,
        Some(sample) => {
            let packed = PackedRows::of(slice::from_ref(&sample))?;
            let covariance = self::covariance(&sample);
            let targets = problem.targets.clone();
            let (data, packed, terms) = (&sample, &packed, &terms[..]);
            let mut small = SoftRateFit { data, packed, penalty, covariance, terms, targets };
            let first = small.fit_hard_rates(start, 1 + CORRECTIONS)?;
            problem.aim_again(&first);
            problem.fit_hard_rates(first.theta, FITS_AFTER_SAMPLE)?.theta
        }
    };
    let variance = variance_of_scores(&problem.covariance, &theta);
    if variance > 0.0 && variance < min_variance {
        let factor = (min_variance / variance).sqrt();
        theta.iter_mut().for_each(|t| *t *= factor);
    }
    Ok(theta)
}

struct SoftRateFit<'a> {
    data: &'a Rows,
    packed: &'a PackedRows,
    penalty: Penalty,
    /// Of the columns of `a` on the data.
    covariance: Vec<Vec<f64>>,
    terms: &'a [Term],
    /// `t_j`.
    targets: Vec<f64>,
}

/// A model, and how well it meets the goals.
struct HardRateFit {
    theta: Vec<f64>,
    /// Of its hard rates.
    miss: f64,
    /// By how much each of its soft rates is below the target it was fitted to.
    shortfalls: Vec<f64>,
}

/// What the Hessian is computed from.
struct State {
    /// The Hessian of the loss, the lower triangle row by row.
    loss_hessian: Vec<f64>,
    /// `∂d_j/∂θ`.
    slopes: Vec<Vec<f64>>,
}

impl SoftRateFit<'_> {
    /// The model whose hard rates come closest to the goals: `start`, or the result of one of the fits, each with
    /// corrected targets.
    fn fit_hard_rates(&mut self, start: Vec<f64>, n_fits: usize) -> Result<HardRateFit, Error> {
        let miss = worst_miss(self.terms, &self.hard_values(&scores_of(self.data, &start)));
        let shortfalls = vec![0.0; self.terms.len()];
        let mut theta = start.clone();
        let mut best = HardRateFit { theta: start, miss, shortfalls };
        // The best targets so far, the hard rates that they gave, and their miss.
        let mut aim: Option<(Vec<f64>, Vec<f64>, f64)> = None;
        let mut gain = 1.0;
        for _ in 0..n_fits {
            theta = minimise(self, self.at(theta)?, &NEWTON)?.point.theta;
            let hard = self.hard_values(&scores_of(self.data, &theta));
            let miss = worst_miss(self.terms, &hard);
            if miss < best.miss {
                let soft = self.soft_values(&theta).0;
                let shortfalls = self.targets.iter().zip(soft).map(|(t, soft)| t - soft);
                best = HardRateFit { theta: theta.clone(), miss, shortfalls: shortfalls.collect() };
            }
            if best.miss <= EXACT {
                break;
            }
            // Rates move in steps, so a correction may overshoot. A smaller one is tried then.
            let (targets, hard, _) = match aim.take() {
                Some(before) if before.2 <= miss => {
                    gain *= 0.5;
                    aim.insert(before)
                }
                _ => aim.insert((self.targets.clone(), hard, miss)),
            };
            let missing = self.terms.iter().zip(hard.iter()).map(|(term, hard)| term.goal - hard);
            self.targets = targets.iter().zip(missing).map(|(t, by)| t + gain * by).collect();
        }
        Ok(best)
    }

    /// Sets targets for which `fit`, made for a sample of the rows, is a good start.
    fn aim_again(&mut self, fit: &HardRateFit) {
        let soft = self.soft_values(&fit.theta).0;
        let hard = self.hard_values(&scores_of(self.data, &fit.theta));
        let targets = soft.iter().zip(&fit.shortfalls).zip(self.terms.iter().zip(&hard));
        self.targets = targets.map(|((s, short), (term, h))| s + short + term.goal - h).collect();
    }

    /// `d_j` of soft decisions, and the gradients.
    ///
    /// For a fixed slope `k`, let `g` be the gradient of a rate. With `k = κ/s`, `s² = θᵀCθ` and `∂rate/∂k = g·θ/k`, the
    /// slope adds `−(g·θ) Cθ/s²`.
    fn soft_values(&self, theta: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let c_theta: Vec<f64> = self.covariance.iter().map(|row| dot(row, theta)).collect();
        let variance = dot(theta, &c_theta);
        let has_spread = variance > 0.0;
        let slope = if has_spread { RELATIVE_SLOPE / variance.sqrt() } else { 1.0 };
        let along = |g: Vec<f64>| -> Vec<f64> {
            let by = if has_spread { dot(&g, theta) / variance } else { 0.0 };
            g.iter().zip(&c_theta).map(|(g, c)| g - by * c).collect()
        };
        let rates = CellRates::at(self.data, slope, theta);
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
        let of = |term: &Term| {
            let (value, slope) = of(term);
            (value, along(slope))
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
        let mut point = Iterate { theta, value, gradient, state: State { loss_hessian, slopes } };
        self.penalty.add_to(&mut point);
        Ok(point)
    }

    fn hessian_factor(&self, point: &Iterate<State>) -> Result<Cholesky, Error> {
        let mut hessian = point.state.loss_hessian.clone();
        for (term, slope) in self.terms.iter().zip(&point.state.slopes) {
            add_outer_product(&mut hessian, RHO * term.weight, slope);
        }
        self.penalty.add_to_hessian(&mut hessian);
        Cholesky::new(&hessian, point.theta.len(), DATA_RIDGE)
    }
}

/// The covariance matrix of the columns of `a`.
fn covariance(data: &Rows) -> Vec<Vec<f64>> {
    let n = data.layout().n();
    let rows = data.len() as f64;
    let blocks = map_blocks(data.len(), |range| {
        // The sum of a, then the lower triangle of the sum of a aᵀ, row by row.
        let mut own = vec![0.0; n];
        let mut products = OuterProducts::new(n);
        for i in range {
            let a = data.a(i);
            add(&mut own, a);
            products.add(1.0, a);
        }
        own.extend(products.finish());
        own
    });
    let mut sums = vec![0.0; n + n * (n + 1) / 2];
    blocks.iter().for_each(|own| add(&mut sums, own));
    let (means, products) = sums.split_at(n);
    let entry = |i: usize, j: usize| {
        let (i, j) = (i.max(j), i.min(j));
        products[i * (i + 1) / 2 + j] / rows - means[i] / rows * (means[j] / rows)
    };
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

/// `θᵀCθ`.
fn variance_of_scores(covariance: &[Vec<f64>], theta: &[f64]) -> f64 {
    covariance.iter().zip(theta).map(|(row, t)| t * dot(row, theta)).sum()
}

#[cfg(test)]
mod tests;
