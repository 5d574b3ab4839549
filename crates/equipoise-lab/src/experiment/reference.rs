//! Models that no server could compute: what a defense is measured against.

use equipoise_core::{Criterion, Metrics, Rows, choices};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::scenario::Scenario;

/// A model to compare defenses with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The mean of the reliable clients' models: a defense that knows who is reliable.
    ReliableMean,
    /// The fair target model of all clients' raw rows together: nobody is unreliable, and nothing is private.
    CentralFair,
}

choices! { Reference:
    ReliableMean => "reliable-mean", "The mean of the reliable clients' models";
    CentralFair => "central-fair", "A fair model of all clients' raw rows";
}

/// A reference model on the reliable clients' test rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReferenceResult {
    /// The model.
    pub reference: Reference,
    /// Its accuracy.
    pub accuracy: Option<f64>,
    /// Its balanced accuracy.
    pub balanced_accuracy: Option<f64>,
    /// Its signed statistical parity difference.
    pub spd: Option<f64>,
    /// Its signed equal opportunity difference.
    pub eod: Option<f64>,
}

impl ReferenceResult {
    pub(super) fn new(reference: Reference, theta: &[f64], test: &Rows) -> Result<Self, Error> {
        let metrics = Metrics::of(theta, test)?;
        Ok(Self {
            reference,
            accuracy: metrics.accuracy.map(|e| e.value),
            balanced_accuracy: metrics.balanced_accuracy.map(|e| e.value),
            spd: metrics.gaps.sp.map(|gap| gap.value),
            eod: metrics.gaps.eo.map(|gap| gap.value),
        })
    }

    /// The signed difference for a criterion.
    pub fn difference(&self, criterion: Criterion) -> Option<f64> {
        if criterion == Criterion::Eo { self.eod } else { self.spd }
    }
}

/// The mean of the reliable clients' models, or of all if none is reliable.
pub(crate) fn reliable_mean(scenario: &Scenario, models: &[Vec<f64>]) -> Vec<f64> {
    let any = scenario.clients.iter().any(|client| client.reliable);
    let chosen: Vec<&Vec<f64>> = scenario
        .clients
        .iter()
        .zip(models)
        .filter(|(client, _)| client.reliable || !any)
        .map(|(_, model)| model)
        .collect();
    let column = |j: usize| chosen.iter().map(|model| model[j]).sum::<f64>() / chosen.len() as f64;
    (0..models[0].len()).map(column).collect()
}
