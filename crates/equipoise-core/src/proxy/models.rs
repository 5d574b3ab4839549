//! Figures, on a client's data, of the models that its proxy stands for: what a client wants to know before it submits.

use super::fair_test::{FairProxyTest, Separation};
use crate::error::Error;
use crate::fairness::Fairness;
use crate::inner_fit::{InnerSettings, fit_logistic, fit_logistic_from};
use crate::metrics::Metrics;
use crate::rows::Rows;

/// Figures on a client's data.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyModels {
    /// Of the labels, as if they were decisions.
    pub labels: Metrics,
    /// Of a model of the data itself.
    pub data: Metrics,
    /// Of the proxy's model, regularised as a server does by default.
    pub proxy: Metrics,
    /// Of the proxy's model without regularisation, unless the proxy is separable and has none.
    pub unregularised: Option<Metrics>,
}

/// λ of a server by default.
const LAMBDA: f64 = 1e-4;

impl ProxyModels {
    /// Fits the models and measures them on `data`. `test` has the model without regularisation.
    pub fn measure(proxy: &Rows, data: &Rows, test: &FairProxyTest) -> Result<Self, Error> {
        let settings = InnerSettings::default();
        // Without a regulariser, the proxy's model is nearly the same.
        let of_proxy = match test.separation {
            Separation::None => fit_logistic_from(proxy, LAMBDA, &settings, test.theta.clone())?,
            _ => fit_logistic(proxy, LAMBDA, &settings)?,
        };
        let unregularised = match test.separation {
            Separation::None => Some(Metrics::of(&test.theta, data)?),
            _ => None,
        };
        Ok(Self {
            labels: Metrics::of_scores(data.labels(), data, 0.0),
            data: Metrics::of(&fit_logistic(data, LAMBDA, &settings)?, data)?,
            proxy: Metrics::of(&of_proxy, data)?,
            unregularised,
        })
    }

    /// The size of the worst gap of the proxy's model, with or without regularisation, whichever is larger. Infinite if
    /// one of them does not exist or its gap cannot be measured, because then nobody can call it fair.
    pub fn worst_gap(&self, fairness: Fairness) -> f64 {
        let size =
            |metrics: &Metrics| metrics.gap(fairness).map_or(f64::INFINITY, |gap| gap.size());
        self.unregularised.as_ref().map_or(f64::INFINITY, size).max(size(&self.proxy))
    }
}

#[cfg(test)]
mod tests;
