//! One cell of the grid: a round and the result of every defense.

use equipoise_core::{
    Choice, Criterion, Defense, Error as CoreError, InnerSettings, Metrics, NoopObserver, Round,
    Rows, Termination, fit_logistic, solve,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::reference::{Reference, ReferenceResult, reliable_mean};
use super::settings::{ExperimentSettings, fairness_of};
use crate::error::Error;
use crate::journal::Line;
use crate::scenario::{Scenario, ScenarioKind, unfairness};

/// Identifies a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellKey {
    /// Name of the dataset.
    pub dataset: String,
    /// The fairness criterion.
    pub fairness: Criterion,
    /// What the reliable clients send.
    pub scenario: ScenarioKind,
    /// Share of unreliable clients.
    pub unreliable: f64,
    /// The seed.
    pub seed: u64,
}

/// A defense, or bilevel without its penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// A defense.
    Defense(Defense),
    /// Bilevel with ρ = 0 throughout: accuracy on the root alone.
    BilevelWithoutPenalty,
}

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its key.
    pub key: CellKey,
    /// Client ids, in the order of the weights.
    pub clients: Vec<String>,
    /// Ids of the unreliable clients.
    pub unreliable_clients: Vec<String>,
    /// |SPD| or |EOD| of a model trained on each client's proxy alone, on its test rows (Figure 2).
    pub proxy_unfairness: Vec<f64>,
    /// Models to compare with, which no server could compute. Empty if the cell failed.
    pub references: Vec<ReferenceResult>,
    /// The results, one per variant. Empty if the cell failed.
    pub results: Vec<DefenseResult>,
    /// Why it failed: for example, no root row of a group is positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The result of a variant on a cell's round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DefenseResult {
    /// The variant.
    pub variant: Variant,
    /// Accuracy on the reliable clients' test rows.
    pub accuracy: Option<f64>,
    /// Balanced accuracy on the same rows.
    pub balanced_accuracy: Option<f64>,
    /// Area under the ROC curve on the same rows.
    pub auc: Option<f64>,
    /// Signed statistical parity difference on the same rows.
    pub spd: Option<f64>,
    /// Signed equal opportunity difference on the same rows.
    pub eod: Option<f64>,
    /// The final objective `P`.
    pub objective: f64,
    /// The fairness violation on the root.
    pub violation: f64,
    /// How the solve stopped.
    pub termination: Termination,
    /// The weights.
    pub weights: Vec<f64>,
    /// Whether the defense could tell which clients are reliable, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<bool>,
    /// Duration of the solve, while other solves ran.
    pub seconds: f64,
}

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
        Ok(Self {
            variant,
            accuracy: metrics.accuracy.map(|e| e.value),
            balanced_accuracy: metrics.balanced_accuracy.map(|e| e.value),
            auc: metrics.auc.map(|e| e.value),
            spd: metrics.gaps.sp.map(|gap| gap.value),
            eod: metrics.gaps.eo.map(|gap| gap.value),
            objective: outcome.objective,
            violation: outcome.violation,
            termination: outcome.termination,
            weights: outcome.weights(),
            decided: outcome.could_tell(),
            seconds,
        })
    }

    /// The signed difference for a criterion.
    pub fn difference(&self, criterion: Criterion) -> Option<f64> {
        if criterion == Criterion::Eo { self.eod } else { self.spd }
    }
}

impl Line for Cell {
    type Key = CellKey;

    fn key(&self) -> &CellKey {
        &self.key
    }

    fn failed(&self) -> bool {
        self.problem.is_some()
    }
}

impl std::fmt::Display for CellKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (fairness, scenario) = (self.fairness.name(), self.scenario.name());
        write!(f, "{}, {fairness}, {scenario}, unreliable {}", self.dataset, self.unreliable)?;
        write!(f, ", seed {}", self.seed)
    }
}

/// Sort key: dataset, fairness, scenario, share, seed.
type Order = (usize, usize, usize, usize, u64);

impl CellKey {
    /// Sort key, from the positions in the settings' lists.
    pub(super) fn order(&self, settings: &ExperimentSettings) -> Order {
        fn at<T: PartialEq>(list: &[T], item: &T) -> usize {
            list.iter().position(|other| other == item).unwrap_or(list.len())
        }
        (
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
        central: &[f64],
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
        let models = scenario
            .clients
            .iter()
            .map(|client| {
                Ok(fit_logistic(&client.proxy, settings.lambda, &InnerSettings::default())?)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let proxy_unfairness = scenario
            .clients
            .iter()
            .zip(&models)
            .map(|(client, model)| Ok(unfairness(&Metrics::of(model, &client.test)?, fairness)))
            .collect::<Result<Vec<_>, Error>>()?;
        let mean = reliable_mean(scenario, &models);
        let references = vec![
            ReferenceResult::new(Reference::ReliableMean, &mean, &test)?,
            ReferenceResult::new(Reference::CentralFair, central, &test)?,
        ];
        let ids = |include: &dyn Fn(bool) -> bool| -> Vec<String> {
            let chosen = scenario.clients.iter().filter(|client| include(client.reliable));
            chosen.map(|client| client.id.clone()).collect()
        };
        Ok(Self {
            key,
            clients: ids(&|_| true),
            unreliable_clients: ids(&|reliable| !reliable),
            proxy_unfairness,
            references,
            results,
            problem: None,
        })
    }

    pub(super) fn failed(key: CellKey, problem: &Error) -> Self {
        Self {
            key,
            clients: Vec::new(),
            unreliable_clients: Vec::new(),
            proxy_unfairness: Vec::new(),
            references: Vec::new(),
            results: Vec::new(),
            problem: Some(explain(problem)),
        }
    }
}

/// What went wrong, and what to do about it.
fn explain(problem: &Error) -> String {
    let is_root = matches!(
        problem,
        Error::Core(CoreError::RootGroup { .. } | CoreError::RootCondition { .. })
    );
    let advice = if is_root { ": increase --root-share" } else { "" };
    format!("{problem}{advice}")
}
