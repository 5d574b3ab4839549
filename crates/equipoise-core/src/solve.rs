//! Read this first: from a round to an outcome.
//!
//! [`solve`] runs a defense and measures its model on the root. The default, `tilt`, fits each client's model once and
//! averages them with the weights that remove the expected gap (`defense/tilt`). The paper's method, `bilevel`, learns client
//! weights `w` that minimise `P(w) = F(θ(w), w)` over the simplex (`learn_weights`), by one of two solvers: `adam` is the paper's
//! Algorithm 2, and `gauss_newton` needs far fewer steps. Both repeat the same cycle:
//!
//! 1. fit the inner model `θ(w)` to the weighted proxies (`inner_fit`);
//! 2. measure `F` on the root (`root`);
//! 3. differentiate `P` implicitly, for the hypergradient `∇P`; `Bilevel::evaluate` does steps 1 to 3;
//! 4. step, and stay on the simplex: a step and a projection (`adam`, `simplex`), or the minimiser of a quadratic model;
//! 5. stop if the weights are stationary: the Frank–Wolfe gap is within its tolerance.

mod active_set;
mod gauss_newton;
mod simplex_model;
mod trace;

use crate::adam::Adam;
use crate::bilevel::{Bilevel, Evaluation};
use crate::comparison::{Comparisons, compare_with_constant};
use crate::defense::{Defense, Solution};
use crate::error::Error;
use crate::inner_fit::ridge;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::outcome::{About, ClientOutcome, Outcome, Termination};
use crate::root::{OuterObjective, RootWeighting};
use crate::round::Round;
use crate::settings::{CheckedSettings, OuterSolver, Settings};
use crate::simplex::project_onto_simplex;
use crate::verdict::Verdict;
use crate::warning::{Warning, WarningCode};
use trace::TraceRecorder;

/// Runs the defense on a round. The same round and settings give the same outcome, bit for bit, whatever the number
/// of threads.
pub fn solve(
    round: &Round,
    settings: &CheckedSettings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    round.root().check(settings.fairness)?;
    round.root().check_clients(settings.root_weighting)?;
    // Inside the pool, thousands of short passes are split among threads without entering it each time.
    let solution = rayon::scope(|_| settings.defense.run(round, settings, observer))?;
    check_finite(&solution.weights, &solution.theta)?;
    measure_on_root(round, settings, solution)
}

/// The bilevel defense: minimises `P` over the simplex, from uniform weights.
pub(crate) fn learn_weights(
    round: &Round,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, Error> {
    let mut problem = Bilevel::new(round, settings);
    let mut trace = TraceRecorder::new(round.n_clients(), settings, observer);
    let uniform = vec![1.0 / round.n_clients() as f64; round.n_clients()];
    let end = match settings.outer.solver {
        OuterSolver::GaussNewton => {
            gauss_newton::minimise(&mut problem, uniform, settings, &mut trace)?
        }
        OuterSolver::Adam => adam(&mut problem, uniform, settings, &mut trace)?,
    };
    let gap = end.relative_gap();
    let termination = match settings.outer.gap_tolerance {
        None => Termination::ScheduleCompleted,
        Some(tolerance) if gap <= tolerance => Termination::Converged,
        Some(_) => Termination::IterationLimit,
    };
    problem.counts.final_inner_gradient_norm = end.inner_gradient_norm;
    Ok(Solution {
        weights: end.weights,
        theta: end.point.theta,
        termination,
        gap: Some(gap),
        counts: problem.counts,
        trace: trace.points,
        warnings: Vec::new(),
        tilt: None,
    })
}

/// The paper's Algorithm 2, with Adam as its update. Returns the last weights, not the best ones, as the paper does.
fn adam(
    problem: &mut Bilevel<'_>,
    uniform: Vec<f64>,
    settings: &Settings,
    trace: &mut TraceRecorder<'_>,
) -> Result<Evaluation, Error> {
    let outer = &settings.outer;
    let mut adam = Adam::new(uniform.len());
    let mut weights = uniform;
    let mut point = problem.origin()?;
    let mut rho = outer.rho.start;
    for stage in outer.rho.stages(outer.iterations) {
        rho = stage.rho;
        for _ in 0..stage.iterations {
            // θ(w_t), fitted from θ(w_{t−1}), then F on the root and the hypergradient ∇P(w_t).
            let here = problem.evaluate(weights, rho, point, &settings.inner)?;
            trace.record(&here)?;
            let is_stationary = here.is_stationary(outer);
            (weights, point) = (here.weights, here.point);
            if is_stationary {
                break;
            }
            // The tentative weights, and their projection w_{t+1} onto the simplex.
            adam.step(&mut weights, &here.gradient, outer.learning_rate);
            weights = project_onto_simplex(&weights);
        }
    }
    problem.evaluate(weights, rho, point, &settings.inner)
}

/// A model with infinite or undefined coefficients would score as perfectly fair, so it is never an outcome.
fn check_finite(weights: &[f64], theta: &[f64]) -> Result<(), Error> {
    let is_finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    match (is_finite(weights), is_finite(theta)) {
        (true, true) => Ok(()),
        (false, _) => Err(Error::NotFinite { what: "weights" }),
        (_, false) => Err(Error::NotFinite { what: "coefficients" }),
    }
}

/// The outcome: whatever the defense, its model is measured on the root by the same objective.
fn measure_on_root(
    round: &Round,
    settings: &CheckedSettings,
    solution: Solution,
) -> Result<Outcome, Error> {
    let rho = settings.outer.rho.last(settings.outer.iterations);
    let extended = round.root().extended_for(&solution.theta)?;
    let pooled = OuterObjective {
        root: extended.as_ref().unwrap_or(round.root()),
        fairness: settings.fairness,
        weighting: RootWeighting::Pooled,
        ridge: ridge(settings.lambda, round.proxies().n()),
    };
    let measured = pooled.evaluate(&solution.theta, &solution.weights, rho)?;
    // All root rows count equally, unless the method minimised an objective with weighted root rows.
    let objective = match settings.defense {
        Defense::Bilevel if solution.gap.is_some() => {
            let minimised = OuterObjective { weighting: settings.root_weighting, ..pooled };
            minimised.evaluate(&solution.theta, &solution.weights, rho)?.value
        }
        _ => measured.value,
    };
    let mut warnings = solution.counts.warnings();
    warnings.extend(solution.warnings);
    if let (Termination::IterationLimit, Some(gap)) = (solution.termination, solution.gap) {
        warnings.push(Warning::new(
            WarningCode::NotStationary,
            format!("the weights are not stationary: the gap is {gap:.1e} of the objective"),
        ));
    }
    let (mut tilt, tilt_summary) = match solution.tilt {
        Some(tilt) => (tilt.clients.into_iter().map(Some).collect(), Some(tilt.summary)),
        None => (vec![None; solution.weights.len()], None),
    };
    let clients = solution.weights.iter().enumerate().map(|(c, &weight)| ClientOutcome {
        id: round.client_ids()[c].clone(),
        proxy_rows: round.proxies().n_rows(c),
        root_rows: round.root().tables()[c].len(),
        weight,
        tilt: tilt[c].take(),
        audit: None,
    });
    let root_rows = round.root().all_rows()?;
    let root_metrics = Metrics::of(&solution.theta, &root_rows)?;
    let constant = compare_with_constant(&solution.theta, &root_rows, settings.fairness);
    let judgements = root_metrics.judge(settings.requirements, settings.fairness);
    let mut outcome = Outcome {
        format: Outcome::FORMAT.to_owned(),
        version: Outcome::VERSION,
        about: About::default(),
        schema_digest: String::new(),
        features: Vec::new(),
        clients: clients.collect(),
        overlaps: Vec::new(),
        more_overlaps: 0,
        objective,
        root_loss: measured.loss,
        rho,
        violation: measured.violation.size(settings.fairness),
        violations: measured.violation,
        root_metrics,
        pooled_root_metrics: None,
        comparisons: Comparisons { constant, ..Comparisons::default() },
        blindness: None,
        sweep: Vec::new(),
        verdict: Verdict::of(&judgements),
        judgements,
        theta: solution.theta,
        termination: solution.termination,
        gap: solution.gap,
        counts: solution.counts,
        trace: solution.trace,
        tilt: tilt_summary,
        warnings,
        settings: **settings,
    };
    outcome.update_figure_warnings();
    Ok(outcome)
}

#[cfg(test)]
mod tests;
