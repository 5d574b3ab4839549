//! The model of a client's own rows, regularised as strongly as they ask for.
//!
//! The model minimises `(1/N) L(θ) + (r/2)‖θ‖² + ((s − r)/2)‖θ'‖²`, where `r` is [`DATA_RIDGE`] and `θ'` is `θ` without its
//! intercept: a strong `s` leads to the constant model, not to one that gives everybody even odds.
//!
//! The strength `s` is chosen by cross-validation. A model of few rows and many coefficients is mostly noise, which a
//! server cannot tell from a wrong model; its client can.

use std::slice;

use crate::error::Error;
use crate::folds::Folds;
use crate::inner_fit::{FitPoint, InnerProblem, sample_model};
use crate::linalg::{Cholesky, RangeProjection};
use crate::logistic::{dot, loss};
use crate::newton::{Iterate, NewtonSettings, Objective, minimise};
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};
use crate::statistics::Statistics;

/// The least ridge of models that are fitted to the client's own rows. The ridge of the round is so small that rare
/// levels of one-hot columns would get coefficients from a handful of people.
pub(crate) const DATA_RIDGE: f64 = 1e-3;

/// The strengths to choose from. With the last, a coefficient of a column with variance 1 is about 1/15 of what it would be.
const STRENGTHS: [f64; 8] = [DATA_RIDGE, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0];

/// Rows per coefficient at which the least strength is right. `n` coefficients of `N` rows cost `n/2N` of mean loss on other
/// rows, so here all regularisation in the world can gain no more than 0.001.
const ENOUGH_ROWS: usize = 500;

/// Larger tables than twice this are represented by a sample of so many rows.
const SAMPLE_ROWS: usize = 5000;

/// When the fits of the cross-validation, and that of the model, have converged.
const ROUGH: f64 = 1e-4;
const EXACT: f64 = 1e-9;

/// By how much regularisation exceeds that of [`DATA_RIDGE`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Penalty {
    excess: f64,
    /// All coefficients but the intercept.
    n_shrunk: usize,
}

impl Penalty {
    pub(super) fn new(layout: &Layout, strength: f64) -> Self {
        let n_shrunk = layout.n() - usize::from(layout.intercept);
        Self { excess: strength - DATA_RIDGE, n_shrunk }
    }

    pub(super) fn least(layout: &Layout) -> Self {
        Self::new(layout, DATA_RIDGE)
    }

    /// Adds the penalty to value and gradient.
    pub(super) fn add_to<S>(&self, point: &mut Iterate<S>) {
        let theta = &point.theta[..self.n_shrunk];
        point.value += 0.5 * self.excess * dot(theta, theta);
        point.gradient.iter_mut().zip(theta).for_each(|(g, t)| *g += self.excess * t);
    }

    /// Adds the penalty to a Hessian, the lower triangle row by row.
    pub(super) fn add_to_hessian(&self, hessian: &mut [f64]) {
        (0..self.n_shrunk).for_each(|i| hessian[i * (i + 1) / 2 + i] += self.excess);
    }
}

/// The model, and the projection onto the span of the rows.
pub(super) struct OwnModel {
    pub(super) theta: Vec<f64>,
    pub(super) row_space: RangeProjection,
}

/// The model of `rows`; `packed` has the same.
pub(super) fn fit(rows: &Rows, packed: &PackedRows, penalty: Penalty) -> Result<OwnModel, Error> {
    let origin = FitPoint::origin(packed)?;
    // At θ = 0 every row has the same curvature, so the Hessian is a multiple of Σ a aᵀ.
    let row_space = RangeProjection::new(origin.statistics.hessian(0), rows.layout().n());
    let start = sample_model(rows)?.map_or(Ok(origin), |theta| FitPoint::at(packed, theta))?;
    let theta = OwnFit::new(packed, penalty).minimise(start, EXACT)?.theta;
    Ok(OwnModel { theta, row_space })
}

/// The model of `rows` with the strength that they ask for.
pub(crate) fn fit_own(rows: &Rows) -> Result<Vec<f64>, Error> {
    let packed = PackedRows::of(slice::from_ref(rows))?;
    Ok(fit(rows, &packed, Penalty::new(rows.layout(), choose_strength(rows)?))?.theta)
}

/// The largest of [`STRENGTHS`] whose loss on held-out rows is within one standard error of the lowest.
pub(super) fn choose_strength(rows: &Rows) -> Result<f64, Error> {
    if rows.len() >= ENOUGH_ROWS * rows.layout().n() {
        return Ok(DATA_RIDGE);
    }
    let sample = sample_of(rows);
    let tried = sample.as_ref().unwrap_or(rows);
    let scores = Folds::of(tried).decide(fit_all_strengths)?;
    let chosen = STRENGTHS[strongest_as_good(&scores.map(|scores| losses(tried, &scores)))];
    // The ridge of a mean loss weighs as much as the same share of the rows.
    Ok((chosen * tried.len() as f64 / rows.len() as f64).max(DATA_RIDGE))
}

/// A sample of a table that is too large for cross-validation.
pub(super) fn sample_of(rows: &Rows) -> Option<Rows> {
    rows.thinned(SAMPLE_ROWS)
}

/// The models of all strengths. The strongest is close to where it starts, and each to the one before.
fn fit_all_strengths(train: &Rows) -> Result<[Vec<f64>; STRENGTHS.len()], Error> {
    let packed = PackedRows::of(slice::from_ref(train))?;
    let mut models = [const { Vec::new() }; STRENGTHS.len()];
    let mut start = FitPoint::origin(&packed)?;
    for (model, strength) in models.iter_mut().zip(STRENGTHS).rev() {
        let penalty = Penalty::new(train.layout(), strength);
        let found = OwnFit::new(&packed, penalty).minimise(start, ROUGH)?;
        model.clone_from(&found.theta);
        start = FitPoint { theta: found.theta, statistics: found.state };
    }
    Ok(models)
}

/// The loss of every row.
fn losses(rows: &Rows, scores: &[f64]) -> Vec<f64> {
    scores.iter().zip(rows.labels()).map(|(score, y)| loss(y * score)).collect()
}

/// The last of the models whose mean loss is at most one standard error above the lowest. The error is that of the
/// difference: two models err on the same rows, so a small difference is known better than either loss.
fn strongest_as_good(losses: &[Vec<f64>]) -> usize {
    let n = losses[0].len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let means: Vec<f64> = losses.iter().map(|losses| mean(losses)).collect();
    let best = (0..means.len()).fold(0, |best, k| if means[k] <= means[best] { k } else { best });
    let is_as_good = |&k: &usize| {
        let excess = means[k] - means[best];
        let rows = losses[k].iter().zip(&losses[best]);
        let squares: Vec<f64> = rows.map(|(a, b)| (a - b - excess).powi(2)).collect();
        excess <= (mean(&squares) / n).sqrt()
    };
    (best..losses.len()).rev().find(is_as_good).unwrap_or(best)
}

/// The loss of some rows with its penalty.
struct OwnFit<'a> {
    problem: InnerProblem<'a>,
    penalty: Penalty,
}

impl<'a> OwnFit<'a> {
    fn new(rows: &'a PackedRows, penalty: Penalty) -> Self {
        Self { problem: InnerProblem { rows, weights: &[1.0], ridge: DATA_RIDGE }, penalty }
    }

    fn minimise(&self, start: FitPoint, tolerance: f64) -> Result<Iterate<Statistics>, Error> {
        let settings =
            NewtonSettings { tolerance, max_iterations: 1000, max_trials: 50, value_noise: 1e-13 };
        let mut start = self.problem.iterate(start);
        self.penalty.add_to(&mut start);
        Ok(minimise(self, start, &settings)?.point)
    }
}

impl Objective for OwnFit<'_> {
    type State = Statistics;

    fn at(&self, theta: Vec<f64>) -> Result<Iterate<Statistics>, Error> {
        let mut point = self.problem.at(theta)?;
        self.penalty.add_to(&mut point);
        Ok(point)
    }

    fn hessian_factor(&self, point: &Iterate<Statistics>) -> Result<Cholesky, Error> {
        let mut hessian = self.problem.hessian(&point.state);
        self.penalty.add_to_hessian(&mut hessian);
        self.problem.factor(&hessian)
    }
}

#[cfg(test)]
mod tests;
