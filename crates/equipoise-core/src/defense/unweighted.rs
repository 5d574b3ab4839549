//! The two defenses that learn no weights: pooled, fitted to all proxies, and root-only.

use super::{Solution, fit_from_scratch};
use crate::error::Error;
use crate::outcome::Counts;
use crate::round::Round;
use crate::settings::Settings;
use crate::statistics::ClientStatistics;

/// The paper's baseline: one model of all proxy rows, each counted once. The outcome reports weights of `1/K`.
pub(super) fn pooled(round: &Round, settings: &Settings) -> Result<Solution, Error> {
    let n_clients = round.n_clients();
    fit_unweighted(round.proxies(), vec![1.0 / n_clients as f64; n_clients], settings)
}

/// What the server could publish if no client had sent anything. Every client has weight 0.
pub(super) fn root_only(round: &Round, settings: &Settings) -> Result<Solution, Error> {
    fit_unweighted(round.root().packed(), vec![0.0; round.n_clients()], settings)
}

fn fit_unweighted(
    rows: &dyn ClientStatistics,
    reported_weights: Vec<f64>,
    settings: &Settings,
) -> Result<Solution, Error> {
    let mut counts = Counts::default();
    let fit = fit_from_scratch(rows, &vec![1.0; rows.n_clients()], settings, &mut counts)?;
    Ok(Solution::direct(reported_weights, fit.point.theta, counts))
}
