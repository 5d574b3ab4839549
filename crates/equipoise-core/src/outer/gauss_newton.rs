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
use super::{Log, is_stationary};
use crate::bilevel::{Bilevel, Evaluation};
use crate::error::Error;
use crate::settings::{Settings, Stage};

/// Share of the promised decrease below which a step is taken back.
const ACCEPTED: f64 = 0.05;
/// Share above which the model is trusted more the next time.
const TRUSTED: f64 = 0.5;
/// Promises below this share of `P` are rounding.
const WORTHLESS: f64 = 1e-14;
/// Raises of μ before a stage gives up.
const MAX_RAISES: usize = 30;

/// Clients alone that are tried as starts, and the most clients for which each alone is looked at.
const VERTEX_STARTS: usize = 2;
const MOST_VERTICES: usize = 64;

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
    let (mut weights, mut found) = descend(problem, start, &stages, settings, log)?;
    for vertex in best_vertices(problem, n_clients, last[0].rho)? {
        let mut start = vec![0.0; n_clients];
        start[vertex] = 1.0;
        log.start += 1;
        let (other, there) = descend(problem, start, last, settings, log)?;
        if there.objective < found.objective {
            (weights, found) = (other, there);
        }
    }
    Ok((weights, found))
}

/// The clients whose model alone has the lowest `P`; none where there is one client, or too many to try.
fn best_vertices(
    problem: &mut Bilevel<'_>,
    n_clients: usize,
    rho: f64,
) -> Result<Vec<usize>, Error> {
    if n_clients == 1 || n_clients > MOST_VERTICES {
        return Ok(Vec::new());
    }
    let mut ranked = Vec::with_capacity(n_clients);
    for client in 0..n_clients {
        let mut alone = vec![0.0; n_clients];
        alone[client] = 1.0;
        ranked.push((problem.evaluate(&alone, rho)?.objective, client));
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(ranked.into_iter().take(VERTEX_STARTS).map(|(_, client)| client).collect())
}

/// Through the stages, from one start to weights that no step improves.
fn descend(
    problem: &mut Bilevel<'_>,
    start: Vec<f64>,
    stages: &[Stage],
    settings: &Settings,
    log: &mut Log<'_>,
) -> Result<(Vec<f64>, Evaluation), Error> {
    let mut weights = start;
    let mut damping = 1e-3;
    let mut found = None;
    for stage in stages {
        let mut here = problem.evaluate(&weights, stage.rho)?;
        for _ in 0..stage.iterations {
            log.step(&weights, stage.rho, &here);
            if is_stationary(&weights, &here, settings) {
                break;
            }
            let model = problem.model(&weights, stage.rho, &here)?;
            match improve(problem, &weights, stage.rho, &here, &model, &mut damping)? {
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

/// The next weights, or `None` where the model sees nothing better within the accuracy of `P`.
fn improve(
    problem: &mut Bilevel<'_>,
    weights: &[f64],
    rho: f64,
    here: &Evaluation,
    model: &SimplexModel,
    damping: &mut f64,
) -> Result<Option<(Vec<f64>, Evaluation)>, Error> {
    for _ in 0..MAX_RAISES {
        let (trial, promised) = model.minimise(weights, *damping);
        if promised <= WORTHLESS * here.objective.abs() {
            return Ok(None);
        }
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
    }
    Ok(None)
}
