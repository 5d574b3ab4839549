//! Newton's method with a backtracking line search.

use super::{Fit, FitPoint, InnerProblem, InnerSettings};
use crate::error::Error;
use crate::linalg::norm;
use crate::logistic::dot;

/// Share of the decrease that the slope promises which a step must bring.
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Halvings of a step before the search gives up. The objective is convex, so a step this short that
/// still does not descend has met the limit of the arithmetic.
const MAX_HALVINGS: usize = 50;

/// Differences of the objective below this share of its value are rounding. Close to the minimum the
/// gradient is far more accurate than the value, so there it alone decides.
const VALUE_NOISE: f64 = 1e-13;

pub(super) fn fit(
    problem: &InnerProblem<'_>,
    start: FitPoint,
    settings: &InnerSettings,
) -> Result<Fit, Error> {
    let mut point = start;
    let mut value = problem.value(&point.theta, &point.statistics);
    let mut gradient = problem.gradient(&point.theta, &point.statistics);
    let (mut iterations, mut passes, mut diagonals_raised) = (0, 0, 0);

    while norm(&gradient) > settings.tolerance && iterations < settings.max_iterations {
        iterations += 1;
        passes += usize::from(problem.complete(&mut point)?);
        let factor = problem.factor(&problem.hessian(&point.statistics))?;
        diagonals_raised += usize::from(factor.added_to_diagonal > 0.0);
        let step = factor.solve(&gradient);
        let slope = -dot(&step, &gradient);

        let mut length = 1.0;
        let mut accepted = None;
        for _ in 0..MAX_HALVINGS {
            let theta = point.theta.iter().zip(&step).map(|(t, s)| t - length * s).collect();
            let trial = problem.point(theta)?;
            passes += 1;
            let trial_value = problem.value(&trial.theta, &trial.statistics);
            let trial_gradient = problem.gradient(&trial.theta, &trial.statistics);
            let descends =
                trial_value < value && trial_value <= value + SUFFICIENT_DECREASE * length * slope;
            let at_the_noise = (trial_value - value).abs() <= VALUE_NOISE * value.abs()
                && norm(&trial_gradient) < norm(&gradient);
            if descends || at_the_noise {
                accepted = Some((trial, trial_value, trial_gradient));
                break;
            }
            length *= 0.5;
        }
        let Some((trial, trial_value, trial_gradient)) = accepted else { break };
        (point, value, gradient) = (trial, trial_value, trial_gradient);
    }

    passes += usize::from(problem.complete(&mut point)?);
    let gradient_norm = norm(&gradient);
    let converged = gradient_norm <= settings.tolerance;
    Ok(Fit { point, gradient_norm, converged, iterations, passes, diagonals_raised })
}
