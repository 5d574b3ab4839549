//! The paper's experiments: a grid of scenarios, every defense on each, several seeds.
//!
//! The unit of work is a split: one dataset, one fairness, one seed. Its cells, scenario kind by share of
//! unreliable clients, use the same clients and the same fair proxies. A finished cell is appended to
//! `results.jsonl` at once, so that an interrupted run goes on where it stopped; at the end all cells are
//! written, sorted and without timings, to `results.csv`, whose bytes do not depend on threads or order.

mod cell;
mod journal;
mod settings;
mod summary;

pub use cell::{Cell, CellKey, DefenseResult, Variant};
pub use settings::{ExperimentSettings, Profile};
pub use summary::{CellSummary, json_name, summarise, write_results_csv};

use rayon::prelude::*;
use std::path::Path;
use std::sync::Mutex;

use crate::dataset::Dataset;
use crate::error::Error;
use crate::scenario::Split;
use journal::Journal;

/// Told of each finished cell: (done, of).
pub type OnCell<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Runs what is not yet in the folder's journal, and returns all cells, sorted.
///
/// `folder` is made where it is not there; one that holds another experiment is refused.
pub fn run_experiment(
    settings: &ExperimentSettings,
    data: &Path,
    folder: &Path,
    on_cell: &OnCell<'_>,
) -> Result<Vec<Cell>, Error> {
    settings.check()?;
    let (journal, finished) = Journal::open(folder, settings)?;
    let populations = settings
        .datasets()?
        .into_iter()
        .map(|dataset| Ok((dataset, dataset.load(data, settings.preprocessing)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let of = settings.n_cells()?;
    let state = Mutex::new((journal, finished));
    let done = || lock(&state).1.len();
    on_cell(done(), of);

    let splits: Vec<(Dataset, usize, u64)> = settings.splits()?;
    splits.par_iter().try_for_each(|&(dataset, fairness, seed)| -> Result<(), Error> {
        let open: Vec<CellKey> = settings
            .keys_of(dataset, fairness, seed)
            .into_iter()
            .filter(|key| !lock(&state).1.iter().any(|cell| &cell.key == key))
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        let Some((_, rows)) = populations.iter().find(|(known, _)| *known == dataset) else {
            return Ok(());
        };
        let mut split = Split::new(rows, &settings.scenario(fairness, seed))?;
        for key in open {
            let scenario = split.scenario(key.scenario, key.unreliable, &mut |_, _| {})?;
            let cell = Cell::run(key, &scenario, settings)?;
            let mut state = lock(&state);
            state.0.append(&cell)?;
            state.1.push(cell);
            on_cell(state.1.len(), of);
        }
        Ok(())
    })?;

    let mut cells = lock(&state).1.clone();
    cells.sort_by_key(|cell| cell.key.order(settings));
    Ok(cells)
}

/// A thread that panicked while holding the lock leaves whole cells behind: they can be used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
