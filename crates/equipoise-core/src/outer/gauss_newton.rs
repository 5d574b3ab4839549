//! Gauss–Newton on the simplex.
//!
//! With `J = dθ/dw = −H⁻¹ (g_1 … g_K) / N`, `P` is modelled around the weights by
//! `∇P·d + ½ dᵀ (Jᵀ ∇²F J + μ I) d`, which is convex and costs no pass over the rows. The model is minimised
//! over the simplex; a step that does not bring a fair share of what the model promised is taken back,
//! and μ raised (Levenberg–Marquardt). So `P` never rises within a stage.
//!
//! `P` is not convex, and a descent may end at a point that another start would have left. After the
//! descent from uniform weights, the clients whose model alone has the lowest `P` are starts as well, at
//! the last ρ; the lowest end counts.

use super::simplex_model::SimplexModel;
use super::{Log, is_stationary, relative_gap};
use crate::bilevel::{Bilevel, Evaluation};
use crate::error::Error;
use crate::settings::{Settings, Stage};

/// Share of the promised decrease below which a step is taken back.
const ACCEPTED: f64 = 0.05;
/// Share above which the model is trusted more the next time.
const TRUSTED: f64 = 0.5;
/// Promises below this share of `max(1, P)` are rounding.
const WORTHLESS: f64 = 1e-14;
/// Raises of μ before a stage gives up.
const MAX_RAISES: usize = 30;

/// Clients alone that are tried as starts.
const VERTEX_STARTS: usize = 2;

/// Inner fits on the way need not be tighter than this: what they leave undone is taken into account to
/// first order. Where a step promises less than `SMALL_PROMISE` of `max(1, P)`, that is no longer enough to tell
/// what it brought, and fits are as tight as the settings say; so is the last one.
const INNER_TOLERANCE: f64 = 1e-9;
const SMALL_PROMISE: f64 = 1e-8;
/// The gap at which a stage is done that is not the last: the next ρ moves the weights anyway.
const STAGE_GAP: f64 = 1e-3;
/// At the last ρ, weights that are stationary are still improved as long as the model promises this share of
/// `max(1, P)`: a step costs a pass or two.
const POLISHED: f64 = 1e-9;
/// A descent whose weights come this close to the end of an earlier one, without being lower, ends there.
const SAME_END: f64 = 1e-3;

/// The lowest of the points that the starts lead to, and `P` there.
pub(super) fn minimise(
    problem: &mut Bilevel<'_>,
    start: Vec<f64>,
    settings: &Settings,
    log: &mut Log<'_>,
) -> Result<(Vec<f64>, Evaluation), Error> {
    let n_clients = start.len();
    let stages = settings.outer.rho.stages(settings.outer.iterations);
    let last = &stages[stages.len() - 1..];
    problem.loosen(INNER_TOLERANCE);
    let (mut weights, mut found) = descend(problem, start, &stages, settings, log, None)?;
    if n_clients > 1 {
        for (vertex, theta) in best_vertices(problem, last[0].rho)? {
            let mut start = vec![0.0; n_clients];
            start[vertex] = 1.0;
            log.start += 1;
            problem.start_from(theta)?;
            let known = Some((&weights[..], found.objective));
            let (other, there) = descend(problem, start, last, settings, log, known)?;
            if there.objective < found.objective {
                (weights, found) = (other, there);
            }
        }
    }
    problem.loosen(0.0);
    problem.start_from(found.theta)?;
    let found = problem.evaluate(&weights, last[0].rho)?;
    Ok((weights, found))
}

/// The clients whose model alone has the lowest `P`, with that model.
fn best_vertices(problem: &mut Bilevel<'_>, rho: f64) -> Result<Vec<(usize, Vec<f64>)>, Error> {
    let mut ranked: Vec<(usize, (f64, Vec<f64>))> =
        problem.vertices(rho)?.into_iter().enumerate().collect();
    ranked.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    Ok(ranked.into_iter().take(VERTEX_STARTS).map(|(vertex, (_, theta))| (vertex, theta)).collect())
}

/// Through the stages, from one start to weights that no step improves, or that an earlier descent ended at.
fn descend(
    problem: &mut Bilevel<'_>,
    start: Vec<f64>,
    stages: &[Stage],
    settings: &Settings,
    log: &mut Log<'_>,
    known: Option<(&[f64], f64)>,
) -> Result<(Vec<f64>, Evaluation), Error> {
    let mut weights = start;
    let mut damping = 1e-3;
    let mut found = None;
    for (number, stage) in stages.iter().enumerate() {
        let is_last = number + 1 == stages.len();
        let mut here = problem.evaluate(&weights, stage.rho)?;
        for _ in 0..stage.iterations {
            log.step(&weights, stage.rho, &here);
            let is_settled = is_stationary(&weights, &here, settings);
            let gap = relative_gap(&weights, &here);
            let is_enough = settings.outer.gap_tolerance.is_some() && gap <= STAGE_GAP;
            if (!is_last && is_enough) || is_at_known_end(&weights, &here, known) {
                break;
            }
            let scale = here.objective.abs().max(1.0);
            let least = if is_settled { POLISHED * scale } else { WORTHLESS * scale };
            let model = problem.model(&weights, stage.rho, &here)?;
            match improve(problem, &weights, stage.rho, &here, &model, &mut damping, least)? {
                Some(better) => (weights, here) = better,
                None => break,
            }
        }
        found = Some(here);
    }
    // Unwrap safety: a checked schedule has at least one step, hence one stage.
    #[allow(clippy::unwrap_used)]
    Ok((weights, found.unwrap()))
}

fn is_at_known_end(weights: &[f64], here: &Evaluation, known: Option<(&[f64], f64)>) -> bool {
    known.is_some_and(|(end, lowest)| {
        let close = weights.iter().zip(end).all(|(w, e)| (w - e).abs() <= SAME_END);
        close && here.objective >= lowest - POLISHED * lowest.abs().max(1.0)
    })
}

/// The next weights, or `None` where the model promises no more than `least`.
fn improve(
    problem: &mut Bilevel<'_>,
    weights: &[f64],
    rho: f64,
    here: &Evaluation,
    model: &SimplexModel,
    damping: &mut f64,
    least: f64,
) -> Result<Option<(Vec<f64>, Evaluation)>, Error> {
    let bookmark = problem.bookmark();
    for _ in 0..MAX_RAISES {
        let (trial, promised) = model.minimise(weights, *damping);
        if promised.is_nan() || promised <= least {
            return Ok(None);
        }
        let is_small = promised <= SMALL_PROMISE * here.objective.abs().max(1.0);
        problem.loosen(if is_small { 0.0 } else { INNER_TOLERANCE });
        let there = problem.evaluate(&trial, rho)?;
        let kept = (here.objective - there.objective) / promised;
        if kept > TRUSTED {
            *damping = (*damping * 0.2).max(1e-12);
        } else if kept < 0.25 {
            *damping *= 5.0;
        }
        if kept >= ACCEPTED {
            return Ok(Some((trial, there)));
        }
        // The model where the weights still are is closer to the next trial than the one just tried.
        problem.return_to(bookmark.clone());
    }
    Ok(None)
}
