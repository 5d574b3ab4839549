//! Rivals: published ways to combine clients' models or rows, each made one-shot. One file each in `rival/`.
//!
//! A new rival needs a file, a variant of [`Rival`], its name below, and its line in [`Rival::run`].

mod coordinate_median;

use equipoise_core::{Fairness, InnerSettings, Rows, choices, fit_logistic};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::scenario::Scenario;

/// A published method that Equipoise is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// The median of each coefficient over the clients' models.
    CoordinateMedian,
}

choices! { Rival:
    CoordinateMedian => "coordinate-median", "Median of each coefficient over the clients' models";
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
        let models = proxies.iter().map(fit).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { proxies, roots, models, fairness, lambda })
    }
}

impl Rival {
    /// The rival's model for a round.
    pub fn run(&self, input: &RivalInput<'_>) -> Result<RivalModel, Error> {
        match self {
            Self::CoordinateMedian => coordinate_median::run(input),
        }
    }
}
