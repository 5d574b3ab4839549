//! The model fitted to one client's proxy alone.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::AuditedRoot;
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerSettings};
use crate::interval::{Count, Estimate, WorstGap};
use crate::local_fit::{LocalFit, LocalFits};
use crate::metrics::{Gap, is_selected};
use crate::statistics::ClientStatistics;

/// The model fitted to a client's proxy alone, measured on the root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnModel {
    /// Share of root rows whose label it predicts.
    pub accuracy: Option<Estimate>,
    /// The worst gap on the root of the fairness requested.
    pub gap: Option<Gap>,
}

/// A fit that needs more steps than this is used as it is. Only separable labels need so many.
const MAX_ITERATIONS: usize = 50;
/// Gradient norm of the mean loss, far below the noise of any root.
const TOLERANCE: f64 = 1e-8;

/// A client's own model.
pub(super) struct OwnFit {
    pub(super) theta: Vec<f64>,
    /// Mean loss on the proxy itself.
    pub(super) proxy_loss: f64,
}

impl OwnFit {
    /// Fits the mean loss of each client, from the published model. `None` if a fit fails.
    pub(super) fn of_each(
        proxies: &dyn ClientStatistics,
        published: &FitPoint,
        ridge: f64,
    ) -> Result<Vec<Option<Self>>, Error> {
        let settings = InnerSettings {
            tolerance: TOLERANCE,
            max_iterations: MAX_ITERATIONS,
            ..InnerSettings::default()
        };
        let start = published.theta.clone();
        let request = LocalFits::of_mean_losses(proxies, start, ridge, settings);
        let fit = |(client, made): (usize, Option<LocalFit>)| {
            let at_start = published.statistics.of_client(client);
            match request.fit(proxies, client, made, Some(at_start)) {
                Ok(LocalFit { theta, loss, .. }) => {
                    let proxy_loss = loss / proxies.n_rows(client) as f64;
                    let is_finite = proxy_loss.is_finite() && theta.iter().all(|t| t.is_finite());
                    Ok(is_finite.then_some(Self { theta, proxy_loss }))
                }
                Err(Error::NotPositiveDefinite { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        proxies.fit_alone(&request)?.into_par_iter().enumerate().map(fit).collect()
    }
}

impl OwnModel {
    /// Its figures on the root, without those of [`Metrics`](crate::Metrics) that would cost a sort per client.
    pub(super) fn of(theta: &[f64], root: &AuditedRoot<'_>) -> Self {
        let scores = root.scores(theta);
        let is_correct = |i: usize| is_selected(scores[i]) == root.rows.is_positive(i);
        Self {
            accuracy: Count::of((0..scores.len()).map(is_correct)).rate(),
            gap: worst_gap(&scores, root),
        }
    }
}

/// The worst gap over the conditions that count.
fn worst_gap(scores: &[f64], root: &AuditedRoot<'_>) -> Option<Gap> {
    let groups = &root.rows.layout().groups;
    let WorstGap { gap, location, .. } = WorstGap::of(&root.selected(scores), groups.reference())?;
    let (condition, _) = root.fairness.conditions().nth(location.condition)?;
    Some(Gap {
        value: gap.value,
        low: gap.low,
        high: gap.high,
        groups: [location.group, location.other].map(|group| groups.name(group).to_owned()),
        condition,
    })
}
