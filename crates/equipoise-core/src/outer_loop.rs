//! The outer loop with Adam: the paper's Algorithm 2.
//!
//! Each step evaluates `P` and `∇P` at the weights, moves against the gradient and projects back onto the
//! simplex. Another outer solver takes the same [`Bilevel`] and gives the same [`Defended`].

use crate::adam::Adam;
use crate::bilevel::{Bilevel, Evaluation};
use crate::defense::Defended;
use crate::error::Error;
use crate::observer::{Observer, Progress};
use crate::outcome::{Termination, TracePoint};
use crate::settings::{Keep, Settings};
use crate::simplex::{frank_wolfe_gap, project_onto_simplex};

/// Numbers that a trace may hold before it keeps only every second, third… step.
const TRACE_NUMBERS: usize = 100_000;

/// Minimises `P` over the simplex, from uniform weights.
pub(crate) fn descend(
    problem: &mut Bilevel<'_>,
    n_clients: usize,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let outer = &settings.outer;
    let mut weights = vec![1.0 / n_clients as f64; n_clients];
    let mut adam = Adam::new(n_clients);
    let mut trace = Vec::new();
    let stride = (outer.iterations * (n_clients + 4)).div_ceil(TRACE_NUMBERS);
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut iteration = 0;
    let mut rho = outer.rho.start;

    for stage in outer.rho.stages(outer.iterations) {
        rho = stage.rho;
        best = None;
        for step in 0..stage.iterations {
            iteration += 1;
            let evaluation = problem.evaluate(&weights, rho)?;
            let violation = evaluation.violation.size(settings.fairness);
            let objective = evaluation.objective;
            if (iteration - 1) % stride == 0 {
                let weights = weights.clone();
                trace.push(TracePoint { iteration, rho, objective, violation, weights });
            }
            observer.on_step(Progress {
                done: iteration,
                of: outer.iterations,
                objective,
                violation,
                rho,
                weights: &weights,
            });
            if best.as_ref().is_none_or(|(lowest, _)| objective < *lowest) {
                best = Some((objective, weights.clone()));
            }
            let gap = relative_gap(&weights, &evaluation);
            if outer.gap_tolerance.is_some_and(|tolerance| gap <= tolerance) {
                break;
            }
            let left = if outer.decay { 1.0 - step as f64 / stage.iterations as f64 } else { 1.0 };
            adam.step(&mut weights, &evaluation.gradient, outer.learning_rate * left);
            weights = project_onto_simplex(&weights);
        }
    }

    let mut evaluation = problem.evaluate(&weights, rho)?;
    if let (Keep::Best, Some((lowest, at))) = (outer.keep, best)
        && lowest < evaluation.objective
    {
        weights = at;
        evaluation = problem.evaluate(&weights, rho)?;
    }
    let gap = relative_gap(&weights, &evaluation);
    let termination = match outer.gap_tolerance {
        None => Termination::ScheduleCompleted,
        Some(tolerance) if gap <= tolerance => Termination::Converged,
        Some(_) => Termination::IterationLimit,
    };
    Ok(Defended {
        weights,
        theta: evaluation.theta,
        termination,
        gap: Some(gap),
        counts: problem.counts,
        trace,
    })
}

/// What a feasible direction promises at most, as a share of `max(1, P)`.
fn relative_gap(weights: &[f64], evaluation: &Evaluation) -> f64 {
    frank_wolfe_gap(weights, &evaluation.gradient) / evaluation.objective.abs().max(1.0)
}
