//! The audit of each client: what its proxy looks like, how good its own model is, and what the published model owes to
//! it.
//!
//! [`audit`] runs after a solve and changes nothing in it. It costs a few passes over the proxies, whatever the number of
//! clients: one for the statistics at the model, those of the clients' own fits, and one over the rows of clients with
//! outliers. Small rounds are also fitted again without each client.

mod drift;
mod influence;
mod outliers;
mod own_model;
mod reason;
mod root_probe;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use drift::Drift;
pub use influence::{Influence, LeftOut};
pub use outliers::Outliers;
pub use own_model::OwnModel;

use crate::error::Error;
use crate::inner_fit::ridge;
use crate::outcome::Outcome;
use crate::packed_rows::ColumnSummary;
use crate::proxy::PrivacyStatement;
use crate::round::Round;
use crate::settings::Settings;
use crate::statistics::Order;
use influence::{MAX_REFIT_COST, Published, Removal};
use own_model::OwnFit;
use root_probe::RootProbe;

/// What an auditor would ask about one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientAudit {
    /// Why it has its weight: one sentence.
    pub reason: String,
    /// The model fitted to its proxy alone, measured on the root. `None` if that fit failed.
    pub own_model: Option<OwnModel>,
    /// What its weight does to the published model. `None` if the model does not use the proxies.
    pub influence: Option<Influence>,
    /// Distinct rows of its proxy, if they were counted.
    pub distinct_rows: Option<DistinctRows>,
    /// How the client says that its proxy is differentially private. Nobody can check from the rows whether it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub privacy: Option<PrivacyStatement>,
    /// Rows of its proxy with values far outside the usual range. `None` if its rows cannot be read one by one.
    pub outliers: Option<Outliers>,
    /// How far the means of its features are from those of the root. `None` if its rows were not summed up.
    pub drift: Option<Drift>,
}

/// The number of distinct rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistinctRows {
    /// Their number.
    pub rows: usize,
    /// Whether the number is an estimate.
    pub estimated: bool,
}

/// Audits every client of a solved round, in the order of the clients.
pub fn audit(
    round: &Round,
    settings: &Settings,
    outcome: &Outcome,
) -> Result<Vec<ClientAudit>, Error> {
    audit_within(round, settings, outcome, MAX_REFIT_COST)
}

/// Estimates the influence of clients with little weight if exact fits would cost more than this.
fn audit_within(
    round: &Round,
    settings: &Settings,
    outcome: &Outcome,
    max_refit_cost: f64,
) -> Result<Vec<ClientAudit>, Error> {
    let (proxies, theta, weights) = (round.proxies(), &outcome.theta, outcome.weights());
    if weights.len() != round.n_clients() {
        return Err(Error::Clients { expected: round.n_clients(), found: weights.len() });
    }
    let all_rows = round.root().all_rows()?;
    let probe = RootProbe::new(&all_rows, settings.fairness);
    let at_model = proxies.evaluate(theta, Order::Hessian)?;
    let ridge = ridge(settings.lambda, proxies.n());

    let clients = 0..round.n_clients();
    let fits = OwnFit::of_each(proxies, theta, &at_model, ridge)?;
    // A model that is not finite has no figures, rather than meaningless ones.
    let measure = |fit: &Option<OwnFit>| {
        fit.as_ref().map(|fit| fit.measure(&probe)).filter(OwnModel::is_finite)
    };
    let own_models: Vec<Option<OwnModel>> = fits.par_iter().map(measure).collect();

    let removal = Removal::new(round, &weights, outcome, &at_model, &fits, ridge, max_refit_cost)?;
    let influences: Vec<Option<Influence>> = match &removal {
        None => vec![None; weights.len()],
        Some(removal) => {
            let now = Published::new(theta, &probe);
            let influence = |client| removal.influence(client, &now, &probe);
            let found: Vec<Option<Influence>> =
                clients.into_par_iter().map(influence).collect::<Result<_, Error>>()?;
            found.into_iter().map(|found| found.filter(Influence::is_finite)).collect()
        }
    };
    drop(at_model);
    let outliers = outliers::find(proxies, all_rows.layout().n_x)?;
    let of_root = ColumnSummary::of(&all_rows);
    let n_clients = round.n_clients();
    let summaries: Vec<&ColumnSummary> =
        (0..n_clients).filter_map(|client| proxies.columns(client)).collect();
    let deviations = drift::typical_deviations(&summaries, &of_root, all_rows.layout().n_x);
    let drift = |client| drift::measure(proxies.columns(client)?, &of_root, &deviations, n_clients);
    let reasons = reason::sentences(outcome, &own_models, &influences);

    let parts = reasons.into_iter().zip(own_models).zip(influences).zip(outliers).enumerate();
    let audits = parts.map(|(client, (((reason, own_model), influence), outliers))| ClientAudit {
        reason,
        own_model,
        influence,
        distinct_rows: None,
        privacy: None,
        outliers,
        drift: drift(client),
    });
    Ok(audits.collect())
}

#[cfg(test)]
mod tests;
