//! The root alone: what the server could publish if no client had sent anything.

use super::{Solved, fit_from_scratch};
use crate::error::Error;
use crate::outcome::Counts;
use crate::round::Round;
use crate::settings::Settings;
use crate::statistics::ClientStatistics;

/// Every root row counts the same; no client has a weight.
pub(super) fn defend(round: &Round, settings: &Settings) -> Result<Solved, Error> {
    let root = round.root().rows();
    let mut counts = Counts::default();
    let fit = fit_from_scratch(root, &vec![1.0; root.n_clients()], settings, &mut counts)?;
    Ok(Solved::direct(vec![0.0; round.n_clients()], fit.point.theta, counts))
}
