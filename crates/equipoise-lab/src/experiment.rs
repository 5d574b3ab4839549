//! The paper's experiments: a grid of scenarios with every defense and several seeds, and ablations.
//!
//! The unit of work is a split: one dataset, one fairness, one seed. Its cells, one per scenario kind and share of
//! unreliable clients, use the same clients and the same fair proxies. A finished cell is appended to
//! `results.jsonl` immediately, so that an interrupted run can resume. At the end all cells are written, sorted and
//! without timings, to `results.csv`, whose bytes do not depend on threads or order.

mod ablation;
mod cell;
mod failed;
mod figures;
mod reference;
mod settings;
mod summary;

pub use ablation::{Ablation, Change};
pub use cell::{Cell, CellKey, DefenseResult, Variant};
pub use failed::FailedCells;
pub(crate) use figures::{Figures, effective_number, split_weights};
pub(crate) use reference::reliable_mean;
pub use reference::{Reference, ReferenceResult};
pub use settings::{ExperimentSettings, RECOMMENDED_ROOT_SHARE};
pub use summary::{CellSummary, Spread, summarise, write_results_csv};

use equipoise_core::Rows;
use equipoise_data::NewFolders;
use rayon::prelude::*;
use std::path::Path;

use crate::dataset::Preprocessing;
use crate::error::Error;
use crate::journal::{FinishedCells, Header, OnCell};
use crate::scenario::Split;
use crate::source::{OWN_TABLE, Sources, check_n_people, rows_digest};
use settings::Unit;

/// The other files of an experiment.
const OUTPUTS: [&str; 5] =
    ["results.csv", "ablations.csv", "traces.csv", "RESULTS.md", "report.html"];

/// A finished experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its settings.
    pub settings: ExperimentSettings,
    /// The requested ablations.
    pub ablations: Vec<Ablation>,
    /// The grid's cells, sorted.
    pub grid: Vec<Cell>,
    /// The cells of the ablations, sorted by change.
    pub ablation_cells: Vec<Cell>,
    /// The file name of the user's own table, if it is one of the datasets.
    pub own_table: Option<String>,
}

/// Runs the grid, then the ablations, skipping cells that are already in the folder's journal.
///
/// A cell that cannot be run is recorded with the reason, and the others continue. It is an error if no cell of the grid
/// can be run. `folder` is created if it does not exist. A folder with another experiment is refused.
pub fn run_experiment(
    settings: &ExperimentSettings,
    ablations: &[Ablation],
    sources: &Sources,
    folder: &Path,
    on_cell: &OnCell<'_>,
) -> Result<Experiment, Error> {
    settings.check()?;
    let stages: Vec<Vec<Unit>> = [settings.grid()]
        .into_iter()
        .chain(ablations.iter().map(|&ablation| settings.ablation(ablation)))
        .collect();
    let populations = Populations::load(&stages, sources)?;
    let digests = settings.datasets.iter().filter_map(|name| {
        let rows = populations.get(name, settings.preprocessing)?;
        Some((name.as_str(), rows_digest(rows)))
    });
    // Ablations are not part of the header, so they can be added later.
    let header = Header::new(settings, digests.collect());
    let requested: Vec<&CellKey> = stages.iter().flatten().flat_map(|unit| &unit.keys).collect();
    let cells = FinishedCells::open(folder, &header, &OUTPUTS, &requested, on_cell)?;
    // Create the folder of tables now, because it is better to fail before the work than after it.
    let tables = folder.join("tables");
    let _until_written = NewFolders::create_all(&tables).map_err(Error::folder(&tables))?;
    let run = Run { populations, cells };
    for stage in &stages {
        stage.par_iter().try_for_each(|unit| run.unit(unit))?;
    }

    let changes: Vec<Change> = ablations.iter().flat_map(|ablation| ablation.changes()).collect();
    let mut cells = run.cells.into_cells();
    cells.sort_by_key(|cell| cell.key.order(settings, &changes));
    let (grid, ablation_cells): (Vec<Cell>, Vec<Cell>) =
        cells.into_iter().partition(|cell| cell.key.change.is_none());
    if let Some(first) = grid.first()
        && grid.iter().all(|cell| cell.problem.is_some())
    {
        let problem = first.problem.clone().unwrap_or_default();
        return Err(Error::NoCell(grid.len(), first.key.to_string(), problem));
    }
    let has_own = settings.datasets.iter().any(|name| name == OWN_TABLE);
    Ok(Experiment {
        settings: settings.clone(),
        ablations: ablations.to_vec(),
        grid,
        ablation_cells,
        own_table: has_own.then(|| sources.own_table_name()).flatten(),
    })
}

/// Datasets as encoded rows, by preprocessing.
struct Populations(Vec<(String, Preprocessing, Rows)>);

impl Populations {
    fn load(stages: &[Vec<Unit>], sources: &Sources) -> Result<Self, Error> {
        let mut populations = Self(Vec::new());
        for unit in stages.iter().flatten() {
            let preprocessing = unit.settings.preprocessing;
            if populations.get(&unit.dataset, preprocessing).is_none() {
                let rows = sources.load(&unit.dataset, preprocessing)?;
                check_n_people(&unit.dataset, &rows, unit.settings.n_people)?;
                populations.0.push((unit.dataset.clone(), preprocessing, rows));
            }
        }
        Ok(populations)
    }

    fn get(&self, dataset: &str, preprocessing: Preprocessing) -> Option<&Rows> {
        let mut all = self.0.iter();
        all.find(|known| (&*known.0, known.1) == (dataset, preprocessing)).map(|(_, _, rows)| rows)
    }
}

struct Run<'a> {
    populations: Populations,
    cells: FinishedCells<'a, Cell>,
}

impl Run<'_> {
    /// Runs the unfinished cells of a unit in parallel.
    fn unit(&self, unit: &Unit) -> Result<(), Error> {
        let open = self.cells.unfinished(&unit.keys);
        let rows = self.populations.get(&unit.dataset, unit.settings.preprocessing);
        let (Some(rows), false) = (rows, open.is_empty()) else { return Ok(()) };
        let scenarios: Vec<_> = open.iter().map(|key| (key.scenario, key.unreliable)).collect();
        let split = Split::new(rows, &unit.scenario).and_then(|split| {
            split.make_proxies(&scenarios)?;
            let central = split.central_fair_model()?;
            Ok((split, central))
        });
        let (split, central) = match split {
            Ok(split) => split,
            Err(problem) => return self.give_up(&open, problem.into()),
        };
        open.par_iter().try_for_each(|&key| {
            let cell = split
                .scenario(key.scenario, key.unreliable, &mut |_, _| {})
                .map_err(Error::from)
                .and_then(|scenario| Cell::run(key.clone(), &scenario, &central, &unit.settings));
            match cell {
                Ok(cell) => self.cells.keep(cell),
                Err(problem) => self.give_up(&[key], problem),
            }
        })
    }

    /// Records cells that cannot be run.
    fn give_up(&self, keys: &[&CellKey], problem: Error) -> Result<(), Error> {
        keys.iter().try_for_each(|&key| self.cells.keep(Cell::failed(key.clone(), &problem)))
    }
}
