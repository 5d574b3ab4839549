//! Adam, each step projected back onto the simplex: the paper's Algorithm 2.

use super::{Log, is_stationary};
use crate::adam::Adam;
use crate::bilevel::{Bilevel, Evaluation};
use crate::error::Error;
use crate::settings::Settings;
use crate::simplex::project_onto_simplex;

/// The weights after the last step, as in the paper, and `P` there.
pub(super) fn minimise(
    problem: &mut Bilevel<'_>,
    start: Vec<f64>,
    settings: &Settings,
    log: &mut Log<'_>,
) -> Result<(Vec<f64>, Evaluation), Error> {
    let outer = &settings.outer;
    let mut weights = start;
    let mut adam = Adam::new(weights.len());
    let mut rho = outer.rho.start;
    for stage in outer.rho.stages(outer.iterations) {
        rho = stage.rho;
        for _ in 0..stage.iterations {
            let evaluation = problem.evaluate(&weights, rho)?;
            log.step(&weights, rho, &evaluation);
            if is_stationary(&weights, &evaluation, settings) {
                break;
            }
            adam.step(&mut weights, &evaluation.gradient, outer.learning_rate);
            weights = project_onto_simplex(&weights);
        }
    }
    let evaluation = problem.evaluate(&weights, rho)?;
    Ok((weights, evaluation))
}
