//! The paper's experiments: a grid of scenarios with every defense and several seeds.
//!
//! The unit of work is a split: one dataset, one fairness, one seed. Its cells, one per scenario kind and share of
//! unreliable clients, use the same clients and the same fair proxies. A finished cell is appended to
//! `results.jsonl` immediately, so that an interrupted run can resume. At the end all cells are written, sorted and
//! without timings, to `results.csv`, whose bytes do not depend on threads or order.

mod cell;
mod failed;
mod figures;
mod reference;
mod settings;
mod summary;

pub use cell::{Cell, CellKey, DefenseResult, Variant};
pub use failed::FailedCells;
pub use figures::Figures;
pub(crate) use figures::{effective_number, split_weights};
pub(crate) use reference::reliable_mean;
pub use reference::{Reference, ReferenceResult};
pub use settings::{ExperimentSettings, RECOMMENDED_ROOT_SHARE};
pub use summary::{CellSummary, Spread, summarise, write_results_csv};

use equipoise_core::Rows;
use equipoise_data::NewFolders;
use rayon::prelude::*;
use std::path::Path;

use crate::error::Error;
use crate::journal::{FinishedCells, Header, OnCell};
use crate::scenario::Split;
use crate::source::{OWN_TABLE, Sources, check_n_people, rows_digest};
use settings::Unit;

/// The other files of an experiment.
const OUTPUTS: [&str; 2] = ["results.csv", "report.html"];

/// A finished experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its settings.
    pub settings: ExperimentSettings,
    /// The grid's cells, sorted.
    pub grid: Vec<Cell>,
    /// The file name of the user's own table, if it is one of the datasets.
    pub own_table: Option<String>,
}

/// Runs the grid, skipping cells that are already in the folder's journal.
///
/// A cell that cannot be run is recorded with the reason, and the others continue. It is an error if no cell of the grid
/// can be run. `folder` is created if it does not exist. A folder with another experiment is refused.
pub fn run_experiment(
    settings: &ExperimentSettings,
    sources: &Sources,
    folder: &Path,
    on_cell: &OnCell<'_>,
) -> Result<Experiment, Error> {
    settings.check()?;
    let populations = load(settings, sources)?;
    let digests = populations.iter().map(|(name, rows)| (*name, rows_digest(rows)));
    let header = Header::new(settings, digests.collect());
    let units = settings.grid();
    let requested: Vec<&CellKey> = units.iter().flat_map(|unit| &unit.keys).collect();
    let cells = FinishedCells::open(folder, &header, &OUTPUTS, &requested, on_cell)?;
    // Create the folder of tables now, because it is better to fail before the work than after it.
    let tables = folder.join("tables");
    let _until_written = NewFolders::create_all(&tables).map_err(Error::folder(&tables))?;
    let run = Run { settings, populations, cells };
    units.par_iter().try_for_each(|unit| run.unit(unit))?;

    let mut grid = run.cells.into_cells();
    grid.sort_by_key(|cell| cell.key.order(settings));
    if let Some(first) = grid.first()
        && grid.iter().all(|cell| cell.problem.is_some())
    {
        let problem = first.problem.clone().unwrap_or_default();
        return Err(Error::NoCell(grid.len(), first.key.to_string(), problem));
    }
    let has_own = settings.datasets.iter().any(|name| name == OWN_TABLE);
    Ok(Experiment {
        settings: settings.clone(),
        grid,
        own_table: has_own.then(|| sources.own_table_name()).flatten(),
    })
}

/// Datasets as encoded rows.
type Populations<'a> = Vec<(&'a str, Rows)>;

fn load<'a>(settings: &'a ExperimentSettings, sources: &Sources) -> Result<Populations<'a>, Error> {
    let mut names: Vec<&str> = settings.combinations().iter().map(|(name, _)| *name).collect();
    names.dedup();
    let load = |name| {
        let rows = sources.load(name, settings.preprocessing)?;
        check_n_people(name, &rows, settings.n_people)?;
        Ok((name, rows))
    };
    names.into_iter().map(load).collect()
}

struct Run<'a> {
    settings: &'a ExperimentSettings,
    populations: Populations<'a>,
    cells: FinishedCells<'a, Cell>,
}

impl Run<'_> {
    /// Runs the unfinished cells of a unit in parallel.
    fn unit(&self, unit: &Unit) -> Result<(), Error> {
        let open = self.cells.unfinished(&unit.keys);
        let found = self.populations.iter().find(|(name, _)| *name == unit.dataset);
        let (Some((_, rows)), false) = (found, open.is_empty()) else { return Ok(()) };
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
                .and_then(|scenario| Cell::run(key.clone(), &scenario, &central, self.settings));
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
