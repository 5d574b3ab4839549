//! Gauss–Newton on the simplex, with Levenberg–Marquardt damping: the default solver.
//!
//! With `J = dθ/dw = −H⁻¹ (g_1 … g_K) / N`, the model of `P` around `w` is `∇P·d + ½ dᵀ (Jᵀ ∇²F J + μ I) d`. It is convex
//! and needs no pass over the rows. Its minimiser on the simplex is the trial step. The gain ratio, actual over predicted
//! decrease of `P`, decides whether the step is accepted and how the damping μ changes, so `P` never rises within a stage.
//!
//! `P` is not convex, so a descent may end in a local minimum. After the descent from uniform weights, two more start from
//! the clients whose model alone has the lowest `P`, at the last ρ. The descent that ends lowest wins.

use rayon::prelude::*;

use super::simplex_model::SimplexModel;
use super::trace::TraceRecorder;
use crate::bilevel::{Bilevel, Evaluation};
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerSettings};
use crate::local_fit::{LocalFit, LocalFits};
use crate::settings::{Settings, Stage};

/// Gain ratio below which a step is rejected.
const MIN_GAIN_RATIO: f64 = 0.05;
/// Gain ratios below and above which the damping is raised and lowered, and by which factors.
const LOW_GAIN_RATIO: f64 = 0.25;
const HIGH_GAIN_RATIO: f64 = 0.5;
const RAISE_DAMPING: f64 = 5.0;
const LOWER_DAMPING: f64 = 0.2;
/// μ as a share of the model's trace.
const INITIAL_DAMPING: f64 = 1e-3;
const MIN_DAMPING: f64 = 1e-12;
/// Maximum number of trial steps from the same weights.
const MAX_TRIALS: usize = 30;

// The following are shares of max(1, P).
/// Predicted decreases below this are rounding errors.
const ROUNDING_THRESHOLD: f64 = 1e-14;
/// Stationary weights are improved at the last ρ while the predicted decrease exceeds this: a step costs a pass or two.
const POLISH_THRESHOLD: f64 = 1e-9;
/// Gap at which a stage before the last ends: the next ρ moves the weights anyway.
const STAGE_GAP: f64 = 1e-3;

/// Inner fits need not be tighter than this while steps are large: `P` is corrected to first order for their error.
/// Once a step's predicted decrease is below the threshold, its gain ratio needs fits to the tolerance of the settings.
const LOOSE_INNER_TOLERANCE: f64 = 1e-9;
const TIGHT_FIT_THRESHOLD: f64 = 1e-8;
/// Number of clients up to which these tolerances hold. A weight is about `1/K` and so is the inner gradient, while `P`
/// is not, so the tolerance shrinks with more clients.
const FEW_CLIENTS: f64 = 16.0;

/// Number of descents that start from a single client.
const VERTEX_STARTS: usize = 2;
/// A descent stops once its weights are this close to the end of an earlier one and `P` is not lower.
const SAME_WEIGHTS: f64 = 1e-3;

/// The end point of all descents with the lowest `P`.
pub(super) fn minimise(
    problem: &mut Bilevel<'_>,
    uniform: Vec<f64>,
    settings: &Settings,
    trace: &mut TraceRecorder<'_>,
) -> Result<Evaluation, Error> {
    let n_clients = uniform.len();
    let stages = settings.outer.rho.stages(settings.outer.iterations);
    let last_stage = &stages[stages.len() - 1..];
    let rho = last_stage[0].rho;
    let scale = (FEW_CLIENTS / n_clients as f64).min(1.0);
    let fit_to = |tolerance| InnerSettings { tolerance: scale * tolerance, ..settings.inner };
    let tight = fit_to(settings.inner.tolerance);
    let loose = fit_to(settings.inner.tolerance.max(LOOSE_INNER_TOLERANCE));
    let mut solver = GaussNewton { problem, settings, trace, tight, loose, inner: loose };

    let origin = solver.problem.origin()?;
    let mut best = solver.descend(uniform, origin, &stages, None)?;
    if n_clients > 1 {
        for (client, theta) in solver.best_vertices(rho, &best.point.theta)? {
            solver.trace.start += 1;
            let vertex: Vec<f64> = (0..n_clients).map(|c| f64::from(c == client)).collect();
            if vertex == best.weights {
                continue;
            }
            let start = solver.problem.start_at(theta)?;
            let end = solver.descend(vertex, start, last_stage, Some(&best))?;
            if end.objective < best.objective {
                best = end;
            }
        }
    }
    problem.evaluate(best.weights, rho, best.point, &tight)
}

struct GaussNewton<'a, 'p, 't> {
    problem: &'a mut Bilevel<'p>,
    settings: &'a Settings,
    trace: &'a mut TraceRecorder<'t>,
    tight: InnerSettings,
    loose: InnerSettings,
    /// `tight` or `loose`, whichever the last trial step needed.
    inner: InnerSettings,
}

impl GaussNewton<'_, '_, '_> {
    /// Descends through the stages until no step improves the weights, or they reach the end of an earlier descent.
    fn descend(
        &mut self,
        weights: Vec<f64>,
        start: FitPoint,
        stages: &[Stage],
        earlier: Option<&Evaluation>,
    ) -> Result<Evaluation, Error> {
        let mut damping = INITIAL_DAMPING;
        let mut here = self.problem.evaluate(weights, stages[0].rho, start, &self.inner)?;
        for (number, stage) in stages.iter().enumerate() {
            let is_last = number + 1 == stages.len();
            if number > 0 {
                let Evaluation { weights, point, .. } = here;
                here = self.problem.evaluate(weights, stage.rho, point, &self.inner)?;
            }
            for _ in 0..stage.iterations {
                self.trace.record(&here)?;
                let has_gap_test = self.settings.outer.gap_tolerance.is_some();
                let ends_stage = has_gap_test && here.relative_gap() <= STAGE_GAP;
                let is_known = earlier.is_some_and(|earlier| has_reached(&here, earlier));
                if (!is_last && ends_stage) || is_known {
                    break;
                }
                let is_stationary = here.is_stationary(&self.settings.outer);
                let threshold = if is_stationary { POLISH_THRESHOLD } else { ROUNDING_THRESHOLD };
                match self.step(&here, &mut damping, threshold * here.scale())? {
                    Some(next) => here = next,
                    None => break,
                }
            }
        }
        Ok(here)
    }

    /// The next accepted step, or `None` once the predicted decrease is at most `threshold`.
    fn step(
        &mut self,
        here: &Evaluation,
        damping: &mut f64,
        threshold: f64,
    ) -> Result<Option<Evaluation>, Error> {
        let model = quadratic_model(self.problem, here)?;
        for _ in 0..MAX_TRIALS {
            let (trial, predicted_decrease) = model.minimise(&here.weights, *damping);
            if predicted_decrease.is_nan() || predicted_decrease <= threshold {
                return Ok(None);
            }
            let is_small = predicted_decrease <= TIGHT_FIT_THRESHOLD * here.scale();
            self.inner = if is_small { self.tight } else { self.loose };
            let start = here.point.clone();
            let there = self.problem.evaluate(trial, here.rho, start, &self.inner)?;
            let actual_decrease = here.objective - there.objective;
            let gain_ratio = actual_decrease / predicted_decrease;
            if gain_ratio > HIGH_GAIN_RATIO {
                *damping = (*damping * LOWER_DAMPING).max(MIN_DAMPING);
            } else if gain_ratio < LOW_GAIN_RATIO {
                *damping *= RAISE_DAMPING;
            }
            if gain_ratio >= MIN_GAIN_RATIO {
                return Ok(Some(there));
            }
        }
        Ok(None)
    }

    /// The clients whose model alone, at weight 1, has the lowest `P`, with that model. Each fit reads only its own
    /// client's rows, so all of them together cost a few passes, whatever the number of clients.
    fn best_vertices(&mut self, rho: f64, start: &[f64]) -> Result<Vec<(usize, Vec<f64>)>, Error> {
        let (proxies, outer) = (self.problem.proxies, self.problem.outer);
        let n_clients = proxies.n_clients();
        let request = LocalFits {
            start: start.to_vec(),
            weights: vec![1.0; n_clients],
            n_rows_total: proxies.n_rows_total(),
            ridge: outer.ridge,
            inner: self.inner,
        };
        let made = proxies.fit_alone(&request)?;
        let fit_client = |(client, made): (usize, Option<LocalFit>)| {
            let fit = request.fit(proxies, client, made, None)?;
            let mut weights = vec![0.0; n_clients];
            weights[client] = 1.0;
            Ok((outer.evaluate(&fit.theta, &weights, rho)?.value, fit))
        };
        let fits: Vec<(f64, LocalFit)> =
            made.into_par_iter().enumerate().map(fit_client).collect::<Result<_, Error>>()?;

        let counts = &mut self.problem.counts;
        let (passes_before, mut rows_read) = (counts.passes, 0);
        for (client, (_, fit)) in fits.iter().enumerate() {
            rows_read += (fit.end.passes + 1) * proxies.n_rows(client);
            counts.add_fit(&fit.end);
        }
        counts.evaluations += n_clients;
        counts.passes = passes_before + rows_read.div_ceil(proxies.n_rows_total());

        let mut ranked: Vec<(usize, (f64, LocalFit))> = fits.into_iter().enumerate().collect();
        ranked.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let best = ranked.into_iter().take(VERTEX_STARTS);
        Ok(best.map(|(client, (_, fit))| (client, fit.theta)).collect())
    }
}

fn has_reached(here: &Evaluation, earlier: &Evaluation) -> bool {
    let mut pairs = here.weights.iter().zip(&earlier.weights);
    let is_close = pairs.all(|(w, e)| (w - e).abs() <= SAME_WEIGHTS);
    is_close && here.objective >= earlier.objective - POLISH_THRESHOLD * earlier.scale()
}

/// The undamped model of `P` around an evaluation, from the statistics that it carries.
fn quadratic_model(problem: &Bilevel<'_>, here: &Evaluation) -> Result<SimplexModel, Error> {
    let (inner, point) = (problem.inner_problem(&here.weights), &here.point);
    let factor = inner.factor(&inner.hessian(&point.statistics))?;
    let n_rows = problem.proxies.n_rows_total() as f64;
    let jacobian = (0..here.weights.len())
        .flat_map(|client| factor.solve(point.statistics.gradient(client)))
        .map(|v| -v / n_rows)
        .collect();
    let outer_hessian = problem.outer.hessian(&point.theta, &here.weights, here.rho)?;
    Ok(SimplexModel::new(here.gradient.clone(), jacobian, &outer_hessian))
}

#[cfg(test)]
mod tests;
