//! A model measured on the client's own data.

use std::slice;

use super::{ProxySettings, ProxySummary, measure_some};
use crate::error::Error;
use crate::fairness::{Covariance, Fairness};
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order};

/// The client's data, ready to measure models.
pub(super) struct OnData<'a> {
    pub(super) data: &'a Rows,
    pub(super) packed: PackedRows,
    covariance: Covariance,
    fairness: Fairness,
}

impl<'a> OnData<'a> {
    pub(super) fn new(data: &'a Rows, fairness: Fairness) -> Result<Self, Error> {
        let packed = PackedRows::of(slice::from_ref(data))?;
        Ok(Self { data, packed, covariance: Covariance::of(data), fairness })
    }

    /// Mean loss, and size of the violation.
    pub(super) fn measure(&self, theta: &[f64]) -> Result<(f64, f64), Error> {
        let loss = self.packed.evaluate(theta, Order::Loss)?.weighted_loss(&[1.0]);
        Ok((loss / self.data.len() as f64, self.covariance.violation(theta).size(self.fairness)))
    }

    /// The quality of a proxy with the model `theta`, made by a generator that started from the model `start_theta`
    /// and takes no steps towards a violation.
    pub(super) fn summarise(
        &self,
        proxy: &Rows,
        theta: Vec<f64>,
        start_theta: Vec<f64>,
        settings: &ProxySettings,
    ) -> Result<ProxySummary, Error> {
        let (start_loss, start_violation) = self.measure(&start_theta)?;
        let (loss, violation) = self.measure(&theta)?;
        Ok(ProxySummary {
            loss,
            violation,
            violations: self.covariance.violation(&theta),
            start_loss,
            start_violation,
            rho: 0.0,
            steps: 0,
            converged: true,
            epsilon_met: settings.epsilon.map(|epsilon| violation <= epsilon),
            closeness: measure_some(proxy, self.data, settings.seed, settings.closeness_rows),
            theta,
            start_theta,
            strength: None,
            target_error: None,
            promised_gap: None,
        })
    }
}
