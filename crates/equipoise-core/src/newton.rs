//! Newton's method with a backtracking line search, for smooth convex functions.

use crate::error::Error;
use crate::linalg::{Cholesky, norm};
use crate::logistic::dot;

/// Share of the linear prediction by which a step of any length must lower the function (Armijo).
pub(crate) const SUFFICIENT_DECREASE: f64 = 1e-4;

/// A function of `θ`. Its points carry what its derivatives are computed from.
pub(crate) trait Objective {
    type Point;

    fn at(&self, theta: Vec<f64>) -> Result<Self::Point, Error>;
    fn theta<'p>(&self, point: &'p Self::Point) -> &'p [f64];
    fn value(&self, point: &Self::Point) -> f64;
    fn gradient(&self, point: &Self::Point) -> Vec<f64>;
    /// The Cholesky factor of the Hessian.
    fn hessian_factor(&self, point: &Self::Point) -> Result<Cholesky, Error>;
}

/// When to stop.
pub(crate) struct NewtonSettings {
    /// Norm of the gradient at a minimum.
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: usize,
    /// Maximum number of step lengths 1, ½, ¼, … per iteration. If none descends, the limit of floating-point precision
    /// is reached.
    pub(crate) max_trials: usize,
    /// Differences below this share of the value are rounding errors. Near a minimum the gradient is far more accurate
    /// than the value, so for such steps it alone decides.
    pub(crate) value_noise: f64,
}

/// The last iterate, and what finding it took.
pub(crate) struct Minimum<P> {
    pub(crate) point: P,
    pub(crate) gradient_norm: f64,
    pub(crate) iterations: usize,
    /// Points evaluated.
    pub(crate) evaluations: usize,
    /// Hessians that could be factored only with something added to their diagonal.
    pub(crate) diagonals_raised: usize,
}

/// Minimises `objective` from `start`.
pub(crate) fn minimise<O: Objective>(
    objective: &O,
    start: O::Point,
    settings: &NewtonSettings,
) -> Result<Minimum<O::Point>, Error> {
    let mut point = start;
    let mut value = objective.value(&point);
    let mut gradient = objective.gradient(&point);
    let (mut iterations, mut evaluations, mut diagonals_raised) = (0, 0, 0);

    while norm(&gradient) > settings.tolerance && iterations < settings.max_iterations {
        iterations += 1;
        let factor = objective.hessian_factor(&point)?;
        diagonals_raised += usize::from(factor.added_to_diagonal > 0.0);
        let step = factor.solve(&gradient);
        let slope = -dot(&step, &gradient);
        let accepted = backtrack(settings.max_trials, |length| {
            let theta = objective.theta(&point).iter().zip(&step).map(|(t, s)| t - length * s);
            let trial = objective.at(theta.collect())?;
            evaluations += 1;
            let trial_value = objective.value(&trial);
            let trial_gradient = objective.gradient(&trial);
            let descends =
                trial_value < value && trial_value <= value + SUFFICIENT_DECREASE * length * slope;
            let is_flat = (trial_value - value).abs() <= settings.value_noise * value.abs();
            let accepts = descends || (is_flat && norm(&trial_gradient) < norm(&gradient));
            Ok(accepts.then_some((trial, trial_value, trial_gradient)))
        })?;
        let Some(accepted) = accepted else { break };
        (point, value, gradient) = accepted;
    }
    let gradient_norm = norm(&gradient);
    Ok(Minimum { point, gradient_norm, iterations, evaluations, diagonals_raised })
}

/// The result at the first of the step lengths 1, ½, ¼, … that `accept` accepts, if any of `max_trials` is.
pub(crate) fn backtrack<T>(
    max_trials: usize,
    mut accept: impl FnMut(f64) -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    let mut length = 1.0;
    for _ in 0..max_trials {
        if let Some(accepted) = accept(length)? {
            return Ok(Some(accepted));
        }
        length *= 0.5;
    }
    Ok(None)
}
