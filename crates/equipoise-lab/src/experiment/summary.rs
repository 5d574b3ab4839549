//! Summaries over all seeds, and the table of all cells.

use equipoise_core::{Choice, Criterion, Defense};
use equipoise_data::write_atomically;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

use super::cell::{Cell, CellKey, Variant};
use super::figures::Figures;
use crate::error::Error;
use crate::scenario::ScenarioKind;

/// One defense in one cell, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellSummary {
    /// Name of the dataset.
    pub dataset: String,
    /// What the reliable clients send.
    pub scenario: ScenarioKind,
    /// The fairness criterion.
    pub fairness: Criterion,
    /// Share of unreliable clients.
    pub unreliable: f64,
    /// Name of the defense.
    pub defense: &'static str,
    /// Number of seeds whose cells could be run.
    pub seeds: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// For how many seeds the root could not tell which clients are reliable, if the defense says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided_seeds: Option<usize>,
    /// Whether this is the default defense of `defend`.
    pub default: bool,
    /// Weights, one list per seed.
    pub weights: Vec<Vec<f64>>,
    /// Unreliable clients, one list per seed.
    pub unreliable_clients: Vec<Vec<String>>,
}

/// Mean and standard deviation over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for a single value.
    pub std: f64,
    /// Number of values.
    pub n: usize,
}

impl Spread {
    /// The spread of at least one value.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
        let std = if values.len() > 1 { (square / (n - 1.0)).sqrt() } else { 0.0 };
        Self { mean, std, n: values.len() }
    }

    /// The standard deviation, if there is more than one value.
    pub fn deviation(&self) -> Option<f64> {
        (self.n > 1).then_some(self.std)
    }
}

/// Summarises cells, sorted as [`run_experiment`](super::run_experiment) returns them, over their seeds.
pub fn summarise(cells: &[Cell], variants: &[Variant]) -> Vec<CellSummary> {
    let differ_only_in_seed = |a: &Cell, b: &Cell| {
        CellKey { seed: 0, ..a.key.clone() } == CellKey { seed: 0, ..b.key.clone() }
    };
    let mut summaries = Vec::new();
    for seeds in cells.chunk_by(differ_only_in_seed) {
        for &variant in variants {
            let all: Vec<&Cell> = seeds.iter().filter(|cell| cell.problem.is_none()).collect();
            let results: Vec<_> = all
                .iter()
                .filter_map(|cell| cell.results.iter().find(|result| result.variant == variant))
                .collect();
            let decided: Vec<bool> = results.iter().filter_map(|result| result.decided).collect();
            let Some(figures) = Figures::of(&all, variant) else { continue };
            summaries.push(CellSummary {
                dataset: seeds[0].key.dataset.clone(),
                scenario: seeds[0].key.scenario,
                fairness: seeds[0].key.fairness,
                unreliable: seeds[0].key.unreliable,
                defense: variant.name(),
                seeds: results.len(),
                figures,
                undecided_seeds: (!decided.is_empty())
                    .then(|| decided.iter().filter(|decided| !**decided).count()),
                default: variant == Variant::Defense(Defense::default()),
                weights: results.iter().map(|r| r.weights.clone()).collect(),
                unreliable_clients: all.iter().map(|c| c.unreliable_clients.clone()).collect(),
            });
        }
    }
    summaries
}

/// Writes one line per cell, seed and defense. Without timings, so that the same experiment gives the same bytes.
pub fn write_results_csv(path: &Path, cells: &[Cell]) -> Result<(), Error> {
    let mut text = String::from(
        "dataset,fairness,scenario,unreliable,seed,defense,accuracy,balanced_accuracy,auc,spd,eod,\
         objective,violation,termination,unreliable_clients,weights\n",
    );
    for cell in cells {
        for result in &cell.results {
            let key = &cell.key;
            let figure = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
            let weights: Vec<String> = result.weights.iter().map(f64::to_string).collect();
            let (fairness, scenario) = (key.fairness.name(), key.scenario.name());
            let termination = result.termination.name();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{fairness},{scenario},{},{},{},{},{},{},{},{},{},{},{termination},{},{}",
                key.dataset,
                key.unreliable,
                key.seed,
                result.variant.name(),
                figure(result.accuracy),
                figure(result.balanced_accuracy),
                figure(result.auc),
                figure(result.spd),
                figure(result.eod),
                result.objective,
                result.violation,
                cell.unreliable_clients.join(" "),
                weights.join(" "),
            );
        }
    }
    Ok(write_atomically(path, true, |writer| writer.write_all(text.as_bytes()))?)
}
