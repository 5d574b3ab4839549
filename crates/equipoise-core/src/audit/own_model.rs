//! The model fitted to one client's proxy alone.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::root_probe::RootProbe;
use crate::error::Error;
use crate::fairness::Condition;
use crate::inner_fit::InnerSettings;
use crate::interval::{Count, Estimate, WorstGap, student_t_quantile};
use crate::local_fit::{LocalFit, LocalFits};
use crate::metrics::{Gap, is_selected};
use crate::statistics::{ClientStatistics, Statistics};

/// The model fitted to a client's proxy alone, measured on the root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnModel {
    /// Mean loss on the proxy itself.
    pub proxy_loss: f64,
    /// Mean loss on the root.
    pub loss: Estimate,
    /// Share of root rows whose label it predicts.
    pub accuracy: Option<Estimate>,
    /// The worst gap on the root of the fairness requested.
    pub gap: Option<Gap>,
}

impl OwnModel {
    pub(super) fn is_finite(&self) -> bool {
        [self.proxy_loss, self.loss.value, self.loss.low, self.loss.high]
            .iter()
            .all(|v| v.is_finite())
    }
}

/// A fit that needs more steps than this is used as it is. Only separable labels need so many.
const MAX_ITERATIONS: usize = 50;
/// Gradient norm of the mean loss, far below the noise of any root.
const TOLERANCE: f64 = 1e-8;

/// A client's own model.
pub(super) struct OwnFit {
    pub(super) theta: Vec<f64>,
    proxy_loss: f64,
}

impl OwnFit {
    /// Fits the mean loss of each client from the published model, at which the statistics are known. `None` if a fit
    /// fails.
    pub(super) fn of_each(
        proxies: &dyn ClientStatistics,
        theta: &[f64],
        at_model: &Statistics,
        ridge: f64,
    ) -> Result<Vec<Option<Self>>, Error> {
        let settings = InnerSettings {
            tolerance: TOLERANCE,
            max_iterations: MAX_ITERATIONS,
            ..InnerSettings::default()
        };
        let request = LocalFits::of_mean_losses(proxies, theta.to_vec(), ridge, settings);
        let fit = |(client, made): (usize, Option<LocalFit>)| match request.fit(
            proxies,
            client,
            made,
            Some(at_model.of_client(client)),
        ) {
            Ok(LocalFit { theta, loss, .. }) => {
                Ok(Some(Self { theta, proxy_loss: loss / proxies.n_rows(client) as f64 }))
            }
            Err(Error::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        proxies.fit_alone(&request)?.into_par_iter().enumerate().map(fit).collect()
    }

    /// The figures on the root, without those of [`Metrics`](crate::Metrics) that would cost a sort per client.
    pub(super) fn measure(&self, probe: &RootProbe<'_>) -> OwnModel {
        let scores = probe.scores(&self.theta);
        let is_correct = |i: &usize| is_selected(scores[*i]) == probe.rows.is_positive(*i);
        let n = scores.len();
        OwnModel {
            proxy_loss: self.proxy_loss,
            loss: mean_with_interval(&probe.losses(&scores)),
            accuracy: Count { successes: (0..n).filter(is_correct).count(), n }.rate(),
            gap: worst_gap(&scores, probe),
        }
    }
}

/// The worst gap over the conditions that count.
fn worst_gap(scores: &[f64], probe: &RootProbe<'_>) -> Option<Gap> {
    let (rows, groups) = (probe.rows, &probe.rows.layout().groups);
    let conditions: Vec<Condition> = probe.fairness.conditions().map(|(c, _)| c).collect();
    let mut counts = vec![vec![Count { successes: 0, n: 0 }; groups.len()]; conditions.len()];
    for (i, &score) in scores.iter().enumerate() {
        for (condition, counts) in conditions.iter().zip(&mut counts) {
            if condition.includes(rows.is_positive(i)) {
                let count = &mut counts[rows.group(i)];
                count.n += 1;
                count.successes += usize::from(is_selected(score));
            }
        }
    }
    let WorstGap { gap, location, .. } = WorstGap::of(&counts, groups.reference())?;
    Some(Gap {
        value: gap.value,
        low: gap.low,
        high: gap.high,
        groups: [location.group, location.other].map(|group| groups.name(group).to_owned()),
        condition: conditions[location.condition],
    })
}

/// A mean with Student's interval. A root has at least two rows.
pub(super) fn mean_with_interval(values: &[f64]) -> Estimate {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let freedom = (n - 1.0).max(1.0);
    let half = student_t_quantile(0.975, freedom) * (squares / freedom / n).sqrt();
    Estimate { value: mean, low: mean - half, high: mean + half }
}
