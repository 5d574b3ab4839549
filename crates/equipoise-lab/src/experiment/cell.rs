//! One cell of the grid: a round, and every defense on it.

use equipoise_core::{
    Criterion, Defense, InnerSettings, Metrics, NoopObserver, Round, Rows, Termination, TracePoint,
    fit_logistic, solve,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::ablation::Change;
use super::settings::{ExperimentSettings, fairness_of};
use super::summary::json_name;
use crate::error::Error;
use crate::scenario::{Scenario, ScenarioKind, unfairness};

/// Where in the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellKey {
    /// Name of the dataset.
    pub dataset: String,
    /// The fairness asked for.
    pub fairness: Criterion,
    /// What the reliable clients send.
    pub scenario: ScenarioKind,
    /// Share of unreliable clients.
    pub unreliable: f64,
    /// The seed.
    pub seed: u64,
    /// What is changed against the experiment's settings; `None` in the grid itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// What is run on a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// A defense as it is.
    Defense(Defense),
    /// The method with ρ = 0 throughout: accuracy on the root alone.
    BilevelWithoutPenalty,
}

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Where in the grid.
    pub key: CellKey,
    /// Ids of the clients, in the order of all weights.
    pub clients: Vec<String>,
    /// Ids of the unreliable ones.
    pub unreliable_clients: Vec<String>,
    /// |SPD| or |EOD| on each client's test rows of a model trained on its proxy alone (Figure 2).
    pub proxy_unfairness: Vec<f64>,
    /// Each defense; empty where the cell could not be run.
    pub results: Vec<DefenseResult>,
    /// Why it could not be run: an ablation may ask for what there are too few rows for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A defense on a cell's round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefenseResult {
    /// Which.
    pub variant: Variant,
    /// Share of the reliable clients' test rows whose label is met.
    pub accuracy: Option<f64>,
    /// Mean of true positive and true negative rate there.
    pub balanced_accuracy: Option<f64>,
    /// Area under the curve there.
    pub auc: Option<f64>,
    /// Statistical parity difference there, signed.
    pub spd: Option<f64>,
    /// Equal opportunity difference there, signed.
    pub eod: Option<f64>,
    /// `P` at the end.
    pub objective: f64,
    /// Size of the violation on the root.
    pub violation: f64,
    /// How the solve stopped.
    pub termination: Termination,
    /// The weights.
    pub weights: Vec<f64>,
    /// How long the solve took, beside other solves.
    pub seconds: f64,
    /// The way of the method's weights, thinned; kept for seed 1 of the grid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TracePoint>,
}

/// Steps of a trace that are kept.
const MAX_STEPS: usize = 200;

impl DefenseResult {
    fn run(
        variant: Variant,
        key: &CellKey,
        round: &Round,
        test: &Rows,
        settings: &ExperimentSettings,
    ) -> Result<Self, Error> {
        let checked = settings.solve(key.fairness, variant).validate()?;
        let started = Instant::now();
        let outcome = solve(round, &checked, &mut NoopObserver)?;
        let seconds = started.elapsed().as_secs_f64();
        let metrics = Metrics::of(&outcome.theta, test)?;
        let traced =
            key.seed == 1 && key.change.is_none() && variant == Variant::Defense(Defense::Bilevel);
        Ok(Self {
            variant,
            accuracy: metrics.accuracy,
            balanced_accuracy: metrics.balanced_accuracy,
            auc: metrics.auc,
            spd: metrics.spd,
            eod: metrics.eod,
            objective: outcome.objective,
            violation: outcome.violation,
            termination: outcome.termination,
            weights: outcome.weights(),
            seconds,
            trace: match traced {
                true => {
                    TracePoint::thinned(&outcome.trace, MAX_STEPS).into_iter().cloned().collect()
                }
                false => Vec::new(),
            },
        })
    }

    /// The signed figure that the cell's fairness is about.
    pub fn difference(&self, criterion: Criterion) -> Option<f64> {
        if criterion == Criterion::Eo { self.eod } else { self.spd }
    }
}

impl std::fmt::Display for CellKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (fairness, scenario) = (json_name(&self.fairness), json_name(&self.scenario));
        write!(f, "{}, {fairness}, {scenario}, unreliable {}", self.dataset, self.unreliable)?;
        write!(f, ", seed {}", self.seed)?;
        self.change.iter().try_for_each(|change| write!(f, ", {}", change.label()))
    }
}

/// Where a cell stands among others: change, dataset, fairness, scenario, share, seed.
type Place = (usize, usize, usize, usize, usize, u64);

impl CellKey {
    /// Position in the grid, for sorting: positions of its parts in the settings' lists.
    pub(super) fn order(&self, settings: &ExperimentSettings, changes: &[Change]) -> Place {
        fn at<T: PartialEq>(list: &[T], item: &T) -> usize {
            list.iter().position(|other| other == item).unwrap_or(list.len())
        }
        (
            self.change.map_or(0, |change| 1 + at(changes, &change)),
            at(&settings.datasets, &self.dataset),
            at(&settings.fairness, &self.fairness),
            at(&settings.scenarios, &self.scenario),
            at(&settings.unreliable, &self.unreliable),
            self.seed,
        )
    }
}

impl Cell {
    pub(super) fn run(
        key: CellKey,
        scenario: &Scenario,
        settings: &ExperimentSettings,
    ) -> Result<Self, Error> {
        let round = scenario.round()?;
        let test = scenario.test_rows()?;
        let results = settings
            .variants
            .par_iter()
            .map(|&variant| DefenseResult::run(variant, &key, &round, &test, settings))
            .collect::<Result<Vec<_>, Error>>()?;
        let fairness = fairness_of(key.fairness);
        let proxy_unfairness = scenario
            .clients
            .iter()
            .map(|client| {
                let model =
                    fit_logistic(&client.proxy, settings.lambda, &InnerSettings::default())?;
                Ok(unfairness(&Metrics::of(&model, &client.test)?, fairness))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let ids = |wanted: &dyn Fn(bool) -> bool| -> Vec<String> {
            let chosen = scenario.clients.iter().filter(|client| wanted(client.reliable));
            chosen.map(|client| client.id.clone()).collect()
        };
        Ok(Self {
            key,
            clients: ids(&|_| true),
            unreliable_clients: ids(&|reliable| !reliable),
            proxy_unfairness,
            results,
            problem: None,
        })
    }

    /// A cell that could not be run.
    pub(super) fn failed(key: CellKey, problem: &Error) -> Self {
        Self {
            key,
            clients: Vec::new(),
            unreliable_clients: Vec::new(),
            proxy_unfairness: Vec::new(),
            results: Vec::new(),
            problem: Some(problem.to_string()),
        }
    }
}
