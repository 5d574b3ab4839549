//! The paper's baseline: one model on all proxy rows, each counting the same.

use super::{Solved, fit_from_scratch};
use crate::error::Error;
use crate::outcome::Counts;
use crate::round::Round;
use crate::settings::Settings;

/// The fit takes every row once, `w_c = 1`; the outcome tells the shares, `1/K` each.
pub(super) fn defend(round: &Round, settings: &Settings) -> Result<Solved, Error> {
    let n_clients = round.n_clients();
    let mut counts = Counts::default();
    let fit = fit_from_scratch(round.proxies(), &vec![1.0; n_clients], settings, &mut counts)?;
    Ok(Solved::direct(vec![1.0 / n_clients as f64; n_clients], fit.point.theta, counts))
}
