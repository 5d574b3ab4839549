//! The cells of the grid that could not be run.

use equipoise_core::Criterion;
use serde::Serialize;

use super::Experiment;
use crate::scenario::ScenarioKind;

/// Cells of one split that could not be run for the same reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedCells {
    /// Name of the dataset.
    pub dataset: String,
    /// The fairness criterion.
    pub fairness: Criterion,
    /// The seed.
    pub seed: u64,
    /// What the reliable clients would have sent, and the share of unreliable clients.
    pub cells: Vec<(ScenarioKind, f64)>,
    /// Why, and what to do about it.
    pub problem: String,
}

impl Experiment {
    /// The cells of the grid that could not be run, by split and reason.
    pub fn failed_cells(&self) -> Vec<FailedCells> {
        let mut failed: Vec<FailedCells> = Vec::new();
        for cell in &self.grid {
            let (key, Some(problem)) = (&cell.key, &cell.problem) else { continue };
            let same = |other: &&mut FailedCells| {
                (&other.dataset, other.fairness, other.seed, &other.problem)
                    == (&key.dataset, key.fairness, key.seed, problem)
            };
            let place = (key.scenario, key.unreliable);
            match failed.iter_mut().find(same) {
                Some(known) => known.cells.push(place),
                None => failed.push(FailedCells {
                    dataset: key.dataset.clone(),
                    fairness: key.fairness,
                    seed: key.seed,
                    cells: vec![place],
                    problem: problem.clone(),
                }),
            }
        }
        failed
    }

    /// The title of a dataset in tables: your own table has the name of its file.
    pub fn dataset_title<'a>(&'a self, dataset: &'a str) -> &'a str {
        match &self.own_table {
            Some(name) if dataset == crate::source::OWN_TABLE => name,
            _ => crate::source::dataset_title(dataset),
        }
    }
}
