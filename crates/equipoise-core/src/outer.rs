//! The outer loop: weights on the simplex that minimise `P(w) = F(θ(w), w)`.
//!
//! A solver takes a [`Bilevel`], which evaluates `P` and `∇P`, starts from uniform weights, and walks
//! through the stages of the ρ schedule. What all of them share is here: the trace, the observer, the
//! convergence test and the result.

mod adam_loop;
mod gauss_newton;
mod simplex_interior;
mod simplex_model;
mod simplex_quadratic;

pub(crate) use simplex_model::SimplexModel;

use crate::bilevel::{Bilevel, Evaluation};
use crate::defense::Defended;
use crate::error::Error;
use crate::observer::{Observer, Progress};
use crate::outcome::{Termination, TracePoint};
use crate::settings::{OuterSolver, Settings};
use crate::simplex::frank_wolfe_gap;

/// Minimises `P` over the simplex.
pub(crate) fn minimise(
    problem: &mut Bilevel<'_>,
    n_clients: usize,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let start = vec![1.0 / n_clients as f64; n_clients];
    let mut log = Log::new(n_clients, settings, observer);
    let (weights, evaluation) = match settings.outer.solver {
        OuterSolver::GaussNewton => gauss_newton::minimise(problem, start, settings, &mut log)?,
        OuterSolver::Adam => adam_loop::minimise(problem, start, settings, &mut log)?,
    };
    let gap = relative_gap(&weights, &evaluation);
    let termination = match settings.outer.gap_tolerance {
        None => Termination::ScheduleCompleted,
        Some(tolerance) if gap <= tolerance => Termination::Converged,
        Some(_) => Termination::IterationLimit,
    };
    problem.counts.final_inner_gradient_norm = evaluation.inner_gradient_norm;
    Ok(Defended {
        weights,
        theta: evaluation.theta,
        termination,
        gap: Some(gap),
        counts: problem.counts,
        trace: log.trace,
        warnings: Vec::new(),
    })
}

/// What a feasible direction promises at most, as a share of `max(1, P)`.
fn relative_gap(weights: &[f64], evaluation: &Evaluation) -> f64 {
    let scale = evaluation.objective.abs().max(1.0);
    if scale.is_finite() {
        frank_wolfe_gap(weights, &evaluation.gradient) / scale
    } else {
        f64::NAN
    }
}

/// Whether the convergence test, if there is one, is met.
fn is_stationary(weights: &[f64], evaluation: &Evaluation, settings: &Settings) -> bool {
    let gap = relative_gap(weights, evaluation);
    settings.outer.gap_tolerance.is_some_and(|tolerance| gap <= tolerance)
}

/// Numbers that a trace may hold before it keeps only every second, third… step.
const TRACE_NUMBERS: usize = 100_000;

/// Keeps the trace and tells the observer.
struct Log<'a> {
    settings: &'a Settings,
    observer: &'a mut dyn Observer,
    trace: Vec<TracePoint>,
    stride: usize,
    iteration: usize,
    /// Which start the steps belong to: 0 is the uniform one.
    start: usize,
}

impl<'a> Log<'a> {
    fn new(n_clients: usize, settings: &'a Settings, observer: &'a mut dyn Observer) -> Self {
        let stride = (settings.outer.iterations * (n_clients + 4)).div_ceil(TRACE_NUMBERS);
        Self { settings, observer, trace: Vec::new(), stride, iteration: 0, start: 0 }
    }

    /// A step begins at these weights.
    fn step(&mut self, weights: &[f64], rho: f64, evaluation: &Evaluation) {
        self.iteration += 1;
        let iteration = self.iteration;
        let objective = evaluation.objective;
        let violation = evaluation.violation.size(self.settings.fairness);
        if (iteration - 1).is_multiple_of(self.stride) {
            let (start, weights) = (self.start, weights.to_vec());
            self.trace.push(TracePoint { iteration, start, rho, objective, violation, weights });
        }
        let of = self.settings.outer.iterations;
        self.observer.on_step(Progress { done: iteration, of, objective, violation, rho, weights });
    }
}

#[cfg(test)]
mod tests;
