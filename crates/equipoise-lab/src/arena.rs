//! The arena: every defense and every rival against every attack, on the same rounds.
//!
//! A context is a dataset with a fairness criterion. The unit of work is a split: one context and one seed. Its cells,
//! one per attack and share of unreliable clients, use the same clients and the same fair proxies. In a cell, all
//! contenders get the same round, and their models are measured on the test rows of the reliable clients. A finished
//! cell is appended to `results.jsonl` immediately, so that an interrupted run can resume.
//!
//! All seeds of a context, attack and rate together are a matchup, in which contenders are compared.

mod cell;
mod contender;
mod losses;
mod matchup;
mod page;
mod ranking;
mod settings;
mod summary;
mod tie;

pub use cell::{ArenaCell, ArenaClient, ArenaKey, ContenderResult};
pub use contender::Contender;
pub use losses::Loss;
pub use matchup::{Matchup, Place, Record};
pub use page::ArenaPage;
pub use ranking::Standing;
pub use settings::{ArenaSettings, Context};
pub use summary::{ArenaSummary, MatchupSummary};

use equipoise_core::Rows;
use rayon::prelude::*;
use std::path::Path;

use crate::error::Error;
use crate::journal::{FinishedCells, Header, OnCell};
use crate::scenario::{ScenarioKind, Split};
use crate::source::{Sources, check_n_people, rows_digest};
use contender::Contest;

/// The files of an arena besides its journal.
const OUTPUTS: [&str; 2] = ["results.csv", "arena.html"];

/// A finished arena.
#[derive(Debug, Clone, PartialEq)]
pub struct Arena {
    /// Its settings.
    pub settings: ArenaSettings,
    /// Its cells, sorted by context, rate, attack and seed.
    pub cells: Vec<ArenaCell>,
}

/// Runs all cells that are not yet in the folder's journal.
///
/// `folder` is created if it does not exist. A folder with other results is refused.
pub fn run_arena(
    settings: &ArenaSettings,
    sources: &Sources,
    folder: &Path,
    on_cell: &OnCell<'_>,
) -> Result<Arena, Error> {
    settings.check()?;
    let mut populations: Vec<(&str, Rows)> = Vec::new();
    for context in &settings.contexts {
        if !populations.iter().any(|(name, _)| *name == context.dataset) {
            let rows = sources.load(&context.dataset, ArenaSettings::PREPROCESSING)?;
            check_n_people(&context.dataset, &rows, settings.n_people)?;
            populations.push((&context.dataset, rows));
        }
    }
    let digests = populations.iter().map(|(name, rows)| (*name, rows_digest(rows))).collect();
    let cell_settings = settings.cell_settings();
    let header = Header::new(&cell_settings, digests);
    let units = settings.units();
    let requested: Vec<&ArenaKey> = units.iter().flatten().collect();
    let finished = FinishedCells::open(folder, &header, &OUTPUTS, &requested, on_cell)?;
    // One unit after another, so that only one split with its proxies is in memory.
    for keys in &units {
        let Some(rows) = keys.first().and_then(|key| {
            populations.iter().find(|(name, _)| *name == key.dataset).map(|(_, rows)| rows)
        }) else {
            continue;
        };
        run_unit(keys, rows, settings, &finished)?;
    }
    let mut cells = finished.into_cells();
    cells.sort_by_cached_key(|cell| settings.order(&cell.key));
    Ok(Arena { settings: settings.clone(), cells })
}

/// Runs the unfinished cells of a split in parallel.
fn run_unit(
    keys: &[ArenaKey],
    rows: &Rows,
    settings: &ArenaSettings,
    finished: &FinishedCells<'_, ArenaCell>,
) -> Result<(), Error> {
    let open = finished.unfinished(keys);
    let Some(&first) = open.first() else { return Ok(()) };
    let prepared = prepare(first, rows, settings);
    let ground = prepared.map_err(|problem| Error::Cell(first.to_string(), Box::new(problem)))?;
    open.par_iter().try_for_each(|&key| finished.keep(ArenaCell::run(key, &ground, settings)))
}

/// What the cells of a unit share.
struct Ground {
    split: Split,
    /// A fair model of all clients' raw rows.
    central: Vec<f64>,
}

fn prepare(key: &ArenaKey, rows: &Rows, settings: &ArenaSettings) -> Result<Ground, Error> {
    let split = Split::new(rows, &settings.scenario(key.fairness, key.seed))?;
    split.make_proxies(&[(ScenarioKind::Realistic, 0.0)])?;
    let fair = split.scenario(ScenarioKind::Realistic, 0.0, &mut |_, _| {})?;
    let central = split.central_fair_model()?;
    // If even honest proxies cannot be pooled, the data or the root is too small: nobody attacked.
    let contest = Contest::new(&fair, &central, key.fairness.into(), settings.lambda)?;
    Contender::POOLED.run(&contest)?;
    drop(contest);
    Ok(Ground { split, central })
}

#[cfg(test)]
mod tests;
