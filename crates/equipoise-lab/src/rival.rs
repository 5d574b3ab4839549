//! Rivals: published ways to combine clients' models or rows, each made one-shot. One file each in `rival/`.
//!
//! A new rival needs a file, a variant of [`Rival`], its name below, and its line in [`Rival::run`]. A
//! publication about updates over many rounds becomes one round from the origin: the update is the client's model.

mod bulyan;
mod coordinate_median;
mod fairfed;
mod fedcc;
mod fedlaw;
mod flram;
mod fltrust;
mod geometric_median;
mod group_thresholds;
mod krum;
mod multi_krum;
mod reweighing;
mod trimmed_mean;
mod vectors;

use equipoise_core::{Choice, Fairness, InnerSettings, Rows, choices, fit_logistic};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::scenario::Scenario;

/// A published method that Equipoise is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// The median of each coefficient over the clients' models.
    CoordinateMedian,
    /// The mean of each coefficient without its largest and smallest values.
    TrimmedMean,
    /// The point with the smallest sum of distances to the clients' models (RFA).
    GeometricMedian,
    /// The model closest to its nearest neighbours.
    Krum,
    /// The average of the models closest to their nearest neighbours.
    MultiKrum,
    /// Krum winners, then a trimmed mean of each coefficient.
    Bulyan,
    /// Models that point in the direction of the root's model.
    Fltrust,
    /// Weights and a shrinkage factor learned on the root.
    Fedlaw,
    /// Models of usual length and signs, weighted by how similar they are.
    Flram,
    /// The larger of two clusters of models.
    Fedcc,
    /// Less weight for clients whose gap is far from the global one.
    Fairfed,
    /// All proxies pooled, with rows weighted as if group and label were independent.
    Reweighing,
    /// All proxies pooled, then thresholds for each group chosen on the root.
    GroupThresholds,
}

choices! { Rival:
    CoordinateMedian => "coordinate-median", "Median of each coefficient over the clients' models";
    TrimmedMean => "trimmed-mean", "Mean of each coefficient without the largest and smallest values";
    GeometricMedian => "geometric-median", "Point with the smallest sum of distances to the models (RFA)";
    Krum => "krum", "The model closest to its nearest neighbours";
    MultiKrum => "multi-krum", "Average of the models closest to their nearest neighbours";
    Bulyan => "bulyan", "Krum winners, then the mean of the values nearest each median";
    Fltrust => "fltrust", "Average of models by their similarity to the root's own model";
    Fedlaw => "fedlaw", "Average of models, with weights and shrinkage learned on the root";
    Flram => "flram", "Average of models without those of unusual length or signs";
    Fedcc => "fedcc", "Average of the larger of two clusters of models";
    Fairfed => "fairfed", "Average of models, favouring those with a gap near the global one";
    Reweighing => "reweighing", "All proxies pooled, rows weighted by group and label";
    GroupThresholds => "group-thresholds", "All proxies pooled, thresholds for each group from the root";
}

/// What a rival works with: a round, and a model fitted to each proxy alone.
#[derive(Debug, Clone)]
pub struct RivalInput<'a> {
    /// The proxies, in the order of the clients.
    pub proxies: Vec<&'a Rows>,
    /// The clients' root rows, in the same order.
    pub roots: Vec<&'a Rows>,
    /// A model of each proxy alone, in the same order.
    pub models: Vec<Vec<f64>>,
    /// The fairness that the coordinator requests.
    pub fairness: Fairness,
    /// λ of the models.
    pub lambda: f64,
}

/// A rival's model.
#[derive(Debug, Clone, PartialEq)]
pub struct RivalModel {
    /// Its coefficients.
    pub theta: Vec<f64>,
    /// The clients' weights, which sum to 1; `None` if the model is not a weighted combination of clients.
    pub weights: Option<Vec<f64>>,
}

impl<'a> RivalInput<'a> {
    /// Fits a model to each proxy of a scenario.
    pub fn new(scenario: &'a Scenario, fairness: Fairness, lambda: f64) -> Result<Self, Error> {
        let proxies: Vec<&Rows> = scenario.clients.iter().map(|client| &client.proxy).collect();
        let roots = scenario.clients.iter().map(|client| &client.root).collect();
        let fit = |rows: &&Rows| fit_logistic(rows, lambda, &InnerSettings::default());
        let models = proxies.par_iter().map(fit).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { proxies, roots, models, fairness, lambda })
    }

    /// All root rows.
    fn root(&self) -> Result<Rows, Error> {
        let root = Rows::concat(&self.roots)?;
        if root.is_empty() {
            return Err(invalid("the root has no rows".to_owned()));
        }
        Ok(root)
    }

    /// Checks that there is a proxy, a root and a model of finite numbers for each client.
    fn check(&self) -> Result<(), Error> {
        let n_clients = self.models.len();
        if n_clients == 0 {
            return Err(invalid("the round has no clients".to_owned()));
        }
        for found in [self.proxies.len(), self.roots.len()] {
            if found != n_clients {
                return Err(equipoise_core::Error::Clients { expected: n_clients, found }.into());
            }
        }
        let expected = self.proxies[0].layout().n();
        if let Some(found) = self.models.iter().map(Vec::len).find(|found| *found != expected) {
            return Err(equipoise_core::Error::Features { expected, found }.into());
        }
        all_finite(self.models.iter().flatten(), "coefficients of the clients' models")
    }
}

impl Rival {
    /// The rival's model for a round. A model or weights that are not finite are an error.
    pub fn run(&self, input: &RivalInput<'_>) -> Result<RivalModel, Error> {
        input.check()?;
        let models = &input.models;
        let found = match self {
            Self::CoordinateMedian => coordinate_median::combine(models),
            Self::TrimmedMean => trimmed_mean::combine(models),
            Self::GeometricMedian => geometric_median::combine(models),
            Self::Krum => krum::combine(models),
            Self::MultiKrum => multi_krum::combine(models),
            Self::Bulyan => bulyan::combine(models),
            Self::Fltrust => fltrust::run(input)?,
            Self::Fedlaw => fedlaw::run(input)?,
            Self::Flram => flram::combine(models),
            Self::Fedcc => fedcc::run(input)?,
            Self::Fairfed => fairfed::run(input)?,
            Self::Reweighing => reweighing::run(input)?,
            Self::GroupThresholds => group_thresholds::run(input)?,
        };
        all_finite(&found.theta, "coefficients")?;
        all_finite(found.weights.iter().flatten(), "weights")?;
        Ok(found)
    }
}

impl std::fmt::Display for Rival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn all_finite<'a>(
    values: impl IntoIterator<Item = &'a f64>,
    what: &'static str,
) -> Result<(), Error> {
    match values.into_iter().all(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(equipoise_core::Error::NotFinite { what }.into()),
    }
}

fn invalid(problem: String) -> Error {
    equipoise_core::Error::Input(problem).into()
}
