//! The inner problem: the model `θ(w)` of the weighted proxies.
//!
//! `ℓ(θ; w) = (1/N) Σ_c w_c L_c(θ) + (λ/2n²)‖θ‖²`, with gradient `(1/N) Σ w_c g_c + (λ/n²) θ` and Hessian
//! `(1/N) Σ w_c H_c + (λ/n²) I`. A fit starts from a [`FitPoint`], which keeps the statistics at its `θ`:
//! after the weights have changed, the first Newton step needs no pass over the rows.

mod lbfgs;

use std::slice;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::linalg::{Cholesky, norm};
use crate::logistic::dot;
use crate::newton::{self, Iterate, NewtonSettings, Objective};
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};

/// The method that finds `θ(w)`. The minimiser is unique, so both methods agree within the tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InnerSolver {
    /// Newton's method with a backtracking line search: one pass over the rows per step.
    #[default]
    Newton,
    /// Limited-memory BFGS, the paper's choice.
    Lbfgs,
}

/// How the inner problem is solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InnerSettings {
    /// The method. Default: Newton.
    pub solver: InnerSolver,
    /// The fit has converged when the Euclidean norm of the gradient of `ℓ` is at most this. Above 0.
    /// Default: 1e-7, as in the paper.
    pub tolerance: f64,
    /// Maximum number of iterations of one fit. A fit that reaches it uses its last iterate, with a warning. At least 1.
    /// Default: 1000, as in the paper.
    pub max_iterations: usize,
}

impl Default for InnerSettings {
    fn default() -> Self {
        Self { solver: InnerSolver::Newton, tolerance: 1e-7, max_iterations: 1000 }
    }
}

/// Maximum number of step lengths per Newton iteration.
const MAX_TRIALS: usize = 50;
/// Differences of `ℓ` below this share of its value are rounding errors.
const VALUE_NOISE: f64 = 1e-13;

/// Rows of the sample that a fit to a large table starts with.
const START_ROWS: usize = 1 << 16;
/// The ridge of its model, large enough for a sample in which labels or levels are rare.
const START_RIDGE: f64 = 1e-3;
/// When its fit ends. Its model is only a start.
const START_TOLERANCE: f64 = 1e-4;

/// `ℓ(·; w)` over some rows.
#[derive(Clone, Copy)]
pub(crate) struct InnerProblem<'a> {
    pub(crate) rows: &'a dyn ClientStatistics,
    pub(crate) weights: &'a [f64],
    /// `λ/n²`.
    pub(crate) ridge: f64,
}

/// A model and the statistics there. Hessians of clients that had weight 0 may be missing: see
/// [`InnerProblem::complete`].
#[derive(Debug, Clone)]
pub(crate) struct FitPoint {
    pub(crate) theta: Vec<f64>,
    pub(crate) statistics: Statistics,
}

/// A model found by a fit, and what finding it took.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) point: FitPoint,
    pub(crate) end: FitEnd,
}

/// How a fit ended, and what it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitEnd {
    /// Norm of the gradient of `ℓ` at the model.
    pub gradient_norm: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
    /// Iterations.
    pub iterations: usize,
    /// Passes over the rows, without the one at the start.
    pub passes: usize,
    /// Hessians whose diagonal had to be increased before they could be factored.
    pub diagonals_raised: usize,
}

/// `λ/n²`, the factor of `θ` in the gradient of the regulariser.
pub(crate) fn ridge(lambda: f64, n: usize) -> f64 {
    lambda / (n * n) as f64
}

impl FitPoint {
    /// The statistics at `theta`: one pass.
    pub(crate) fn at(rows: &dyn ClientStatistics, theta: Vec<f64>) -> Result<Self, Error> {
        let statistics = rows.evaluate(&theta, Order::Hessian)?;
        Ok(Self { theta, statistics })
    }

    /// The cold start, `θ = 0`.
    pub(crate) fn origin(rows: &dyn ClientStatistics) -> Result<Self, Error> {
        Self::at(rows, vec![0.0; rows.n()])
    }
}

impl InnerProblem<'_> {
    /// Minimises `ℓ`, starting from `start`.
    pub(crate) fn fit(&self, start: FitPoint, settings: &InnerSettings) -> Result<Fit, Error> {
        match settings.solver {
            InnerSolver::Newton => self.fit_by_newton(start, settings),
            InnerSolver::Lbfgs => lbfgs::fit(self, start, settings),
        }
    }

    fn fit_by_newton(&self, mut start: FitPoint, settings: &InnerSettings) -> Result<Fit, Error> {
        let completed = self.complete(&mut start)?;
        let &InnerSettings { tolerance, max_iterations, .. } = settings;
        let (max_trials, value_noise) = (MAX_TRIALS, VALUE_NOISE);
        let settings = NewtonSettings { tolerance, max_iterations, max_trials, value_noise };
        let found = newton::minimise(self, self.iterate(start), &settings)?;
        let gradient_norm = norm(&found.point.gradient);
        Ok(Fit {
            point: FitPoint { theta: found.point.theta, statistics: found.point.state },
            end: FitEnd {
                gradient_norm,
                converged: gradient_norm <= tolerance,
                iterations: found.iterations,
                passes: found.evaluations + usize::from(completed),
                diagonals_raised: found.diagonals_raised,
            },
        })
    }

    pub(crate) fn iterate(&self, point: FitPoint) -> Iterate<Statistics> {
        let FitPoint { theta, statistics: state } = point;
        let (value, gradient) = (self.value(&theta, &state), self.gradient(&theta, &state));
        Iterate { theta, value, gradient, state }
    }

    /// Adds the Hessians of clients that had weight 0 when the point was computed but no longer do. Returns whether
    /// that took a pass, over the rows of these clients alone.
    pub(crate) fn complete(&self, point: &mut FitPoint) -> Result<bool, Error> {
        let missing = |client: usize| {
            self.weights[client] != 0.0 && point.statistics.known(client) < Some(Order::Hessian)
        };
        if !(0..self.weights.len()).any(missing) {
            return Ok(false);
        }
        let orders: Vec<Option<Order>> =
            (0..self.weights.len()).map(|c| missing(c).then_some(Order::Hessian)).collect();
        let more = self.rows.evaluate_each(&point.theta, &orders)?;
        point.statistics.complete(&more);
        Ok(true)
    }

    /// `ℓ`, from the statistics at `theta`.
    fn value(&self, theta: &[f64], statistics: &Statistics) -> f64 {
        statistics.weighted_loss(self.weights) / self.n_rows()
            + 0.5 * self.ridge * dot(theta, theta)
    }

    /// `∇ℓ`, from the statistics at `theta`.
    pub(crate) fn gradient(&self, theta: &[f64], statistics: &Statistics) -> Vec<f64> {
        let n_rows = self.n_rows();
        let mut gradient = statistics.weighted_gradient(self.weights);
        gradient.iter_mut().zip(theta).for_each(|(g, t)| *g = *g / n_rows + self.ridge * t);
        gradient
    }

    /// `∇²ℓ` without its multiple of the identity, the lower triangle row by row.
    pub(crate) fn hessian(&self, statistics: &Statistics) -> Vec<f64> {
        let n_rows = self.n_rows();
        let mut hessian = statistics.weighted_hessian(self.weights);
        hessian.iter_mut().for_each(|h| *h /= n_rows);
        hessian
    }

    /// The Cholesky factor of `∇²ℓ`, given its [`hessian`](Self::hessian).
    pub(crate) fn factor(&self, hessian: &[f64]) -> Result<Cholesky, Error> {
        Cholesky::new(hessian, self.rows.n(), self.ridge)
    }

    fn n_rows(&self) -> f64 {
        self.rows.n_rows_total() as f64
    }
}

impl Objective for InnerProblem<'_> {
    type State = Statistics;

    /// One pass, for the Hessians of clients whose weight is not 0 and the gradients of all.
    fn at(&self, theta: Vec<f64>) -> Result<Iterate<Statistics>, Error> {
        let order = |&w: &f64| Some(if w == 0.0 { Order::Gradient } else { Order::Hessian });
        let orders: Vec<Option<Order>> = self.weights.iter().map(order).collect();
        let statistics = self.rows.evaluate_each(&theta, &orders)?;
        Ok(self.iterate(FitPoint { theta, statistics }))
    }

    fn hessian_factor(&self, point: &Iterate<Statistics>) -> Result<Cholesky, Error> {
        self.factor(&self.hessian(&point.state))
    }
}

/// The model of some rows alone: the minimiser of `(1/N) L(θ) + (λ/2n²)‖θ‖²`.
pub fn fit_logistic(rows: &Rows, lambda: f64, settings: &InnerSettings) -> Result<Vec<f64>, Error> {
    let packed = PackedRows::of(slice::from_ref(rows))?;
    let start = sample_model(rows)?.unwrap_or_else(|| vec![0.0; packed.n()]);
    fit_packed(&packed, lambda, settings, start)
}

/// The same, starting from a model that is probably close.
pub(crate) fn fit_logistic_from(
    rows: &Rows,
    lambda: f64,
    settings: &InnerSettings,
    start: Vec<f64>,
) -> Result<Vec<f64>, Error> {
    let packed = PackedRows::of(slice::from_ref(rows))?;
    fit_packed(&packed, lambda, settings, start)
}

fn fit_packed(
    rows: &PackedRows,
    lambda: f64,
    settings: &InnerSettings,
    start: Vec<f64>,
) -> Result<Vec<f64>, Error> {
    let problem = InnerProblem { rows, weights: &[1.0], ridge: ridge(lambda, rows.n()) };
    Ok(problem.fit(FitPoint::at(rows, start)?, settings)?.point.theta)
}

/// Where to start a fit to one large table: at the model of a sample, which saves half of the passes over all rows. `None`
/// for smaller tables.
pub(crate) fn sample_model(rows: &Rows) -> Result<Option<Vec<f64>>, Error> {
    let Some(sample) = rows.thinned(START_ROWS) else { return Ok(None) };
    let sample = PackedRows::of(slice::from_ref(&sample))?;
    let problem = InnerProblem { rows: &sample, weights: &[1.0], ridge: START_RIDGE };
    let settings = InnerSettings { tolerance: START_TOLERANCE, ..InnerSettings::default() };
    Ok(Some(problem.fit(FitPoint::origin(&sample)?, &settings)?.point.theta))
}

/// The model of several tables, in which each row of table `c` has weight `weights[c]`: the minimiser of
/// `(1/N) Σ_c w_c L_c(θ) + (λ/2n²)‖θ‖²`, with N the number of rows.
pub fn fit_weighted_logistic(
    tables: &[Rows],
    weights: &[f64],
    lambda: f64,
    settings: &InnerSettings,
) -> Result<Vec<f64>, Error> {
    if weights.len() != tables.len() {
        return Err(Error::Clients { expected: tables.len(), found: weights.len() });
    }
    let rows = PackedRows::of(tables)?;
    let problem = InnerProblem { rows: &rows, weights, ridge: ridge(lambda, rows.n()) };
    Ok(problem.fit(FitPoint::origin(&rows)?, settings)?.point.theta)
}

#[cfg(test)]
mod tests;
