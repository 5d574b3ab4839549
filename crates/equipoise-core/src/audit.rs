//! The audit of each client: why it has its weight, how good its own model is, and what the published model owes to it.
//!
//! [`audit`] runs after a solve and changes nothing in it.

mod left_out;
mod own_model;
mod reason;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use left_out::LeftOut;
pub use own_model::OwnModel;

use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::inner_fit::{FitPoint, ridge};
use crate::interval::Count;
use crate::metrics::is_selected;
use crate::outcome::Outcome;
use crate::proxy::PrivacyStatement;
use crate::round::Round;
use crate::rows::Rows;
use crate::settings::Settings;
use own_model::OwnFit;

/// What an auditor would ask about one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientAudit {
    /// Why it has its weight: one sentence.
    pub reason: String,
    /// The model fitted to its proxy alone, measured on the root. `None` if that fit failed.
    pub own_model: Option<OwnModel>,
    /// What would change without it. `None` if the model does not use the proxies, if no other client has any weight, or
    /// if the model is fitted to all proxies and the round has more than 50 clients.
    pub left_out: Option<LeftOut>,
    /// Distinct rows of its proxy, if they were counted.
    pub distinct_rows: Option<DistinctRows>,
    /// How the client says that its proxy is differentially private. Nobody can check from the rows whether it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<PrivacyStatement>,
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
    let (proxies, n_clients) = (round.proxies(), round.n_clients());
    if outcome.clients.len() != n_clients {
        return Err(Error::Clients { expected: n_clients, found: outcome.clients.len() });
    }
    let rows = round.root().all_rows()?;
    let root = AuditedRoot { rows: &rows, fairness: settings.fairness };
    // Without the intercept of a model whose layout has none: the clients' own models have none either.
    let published = FitPoint::at(proxies, outcome.theta[..proxies.n()].to_vec())?;
    let ridge = ridge(settings.lambda, proxies.n());

    let fits = OwnFit::of_each(proxies, &published, ridge)?;
    let measure = |fit: &Option<OwnFit>| fit.as_ref().map(|fit| OwnModel::of(&fit.theta, &root));
    let own_models: Vec<Option<OwnModel>> = fits.par_iter().map(measure).collect();
    let left_out = left_out::of_each(round, outcome, &published, &fits, &root)?;
    let reasons = reason::sentences(outcome, &fits, &left_out);

    let parts = reasons.into_iter().zip(own_models).zip(left_out);
    let audits = parts.map(|((reason, own_model), left_out)| ClientAudit {
        reason,
        own_model,
        left_out,
        distinct_rows: None,
        privacy: None,
    });
    Ok(audits.collect())
}

/// All root rows, and the fairness requested.
struct AuditedRoot<'a> {
    rows: &'a Rows,
    fairness: Fairness,
}

impl AuditedRoot<'_> {
    /// The score `a·θ` of each row.
    fn scores(&self, theta: &[f64]) -> Vec<f64> {
        (0..self.rows.len()).map(|i| self.rows.score(i, theta)).collect()
    }

    /// How many rows are selected, by condition that counts and by group.
    fn selected(&self, scores: &[f64]) -> Vec<Vec<Count>> {
        let none = vec![Count { successes: 0, n: 0 }; self.rows.layout().groups.len()];
        let of_condition = |condition: Condition| {
            let mut counts = none.clone();
            for (i, &score) in scores.iter().enumerate() {
                if condition.includes(self.rows.is_positive(i)) {
                    let count = &mut counts[self.rows.group(i)];
                    count.n += 1;
                    count.successes += usize::from(is_selected(score));
                }
            }
            counts
        };
        self.fairness.conditions().map(|(condition, _)| of_condition(condition)).collect()
    }
}

#[cfg(test)]
mod tests;
