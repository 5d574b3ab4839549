//! Newton's method with a backtracking line search, for smooth convex functions.

use crate::error::Error;
use crate::linalg::{Cholesky, norm};
use crate::logistic::dot;

/// Share of the linear prediction by which a step of any length must lower the function (Armijo).
pub(crate) const SUFFICIENT_DECREASE: f64 = 1e-4;

/// A smooth convex function of `θ`.
pub(crate) trait Objective {
    /// What its Hessian at a point is computed from.
    type State;

    fn at(&self, theta: Vec<f64>) -> Result<Iterate<Self::State>, Error>;

    /// The Cholesky factor of the Hessian.
    fn hessian_factor(&self, point: &Iterate<Self::State>) -> Result<Cholesky, Error>;
}

/// A point, with the function's value and gradient there.
pub(crate) struct Iterate<S> {
    pub(crate) theta: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    pub(crate) state: S,
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
pub(crate) struct Minimum<S> {
    pub(crate) point: Iterate<S>,
    pub(crate) iterations: usize,
    /// Points evaluated.
    pub(crate) evaluations: usize,
    /// Hessians whose diagonal had to be increased before they could be factored.
    pub(crate) diagonals_raised: usize,
}

/// Minimises `objective` from `start`.
pub(crate) fn minimise<O: Objective>(
    objective: &O,
    start: Iterate<O::State>,
    settings: &NewtonSettings,
) -> Result<Minimum<O::State>, Error> {
    let mut found = Minimum { point: start, iterations: 0, evaluations: 0, diagonals_raised: 0 };
    while norm(&found.point.gradient) > settings.tolerance
        && found.iterations < settings.max_iterations
    {
        let here = &found.point;
        let factor = objective.hessian_factor(here)?;
        let step = factor.solve(&here.gradient);
        let slope = -dot(&step, &here.gradient);
        let accepted = backtrack(settings.max_trials, |length| {
            let theta = here.theta.iter().zip(&step).map(|(t, s)| t - length * s).collect();
            let there = objective.at(theta)?;
            found.evaluations += 1;
            let limit = here.value + SUFFICIENT_DECREASE * length * slope;
            let descends = there.value < here.value && there.value <= limit;
            let noise = settings.value_noise * here.value.abs();
            let is_better_within_noise = (there.value - here.value).abs() <= noise
                && norm(&there.gradient) < norm(&here.gradient);
            Ok((descends || is_better_within_noise).then_some(there))
        })?;
        found.iterations += 1;
        found.diagonals_raised += usize::from(factor.added_to_diagonal > 0.0);
        let Some(accepted) = accepted else { break };
        found.point = accepted;
    }
    Ok(found)
}

/// The result at the first of the step lengths 1, ½, ¼, … that `accept` accepts; `None` if it accepts none of
/// `max_trials`.
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
