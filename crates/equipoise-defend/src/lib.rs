//! From a round that was read to the files of its outcome: solve, measure, write.
//!
//! The command `defend`, the demo and the round server all come through here, so that the same files give
//! the same model, bit for bit, on every way.

mod files;
pub mod page;

use std::time::Instant;

use equipoise_core::{CheckedSettings, Observer, Outcome, solve};
use equipoise_data::{LoadedRound, Model, OutcomeFile, OutcomeWarning, Schema};

pub use files::write_files;
use page::PageContext;

/// Why a round could not be defended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The maths could not be done.
    #[error(transparent)]
    Solve(#[from] equipoise_core::Error),
    /// What came out does not hold together, or could not be written.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
}

/// Whether the outcome tells how long the solve took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// It does: no two outcomes are the same bytes.
    Recorded,
    /// `seconds` is 0: the same inputs give the same bytes, which a signed outcome needs.
    Omitted,
}

/// What a solve gave, ready to be written.
#[derive(Debug)]
pub struct Defended {
    /// What the solve gave.
    pub outcome: Outcome,
    /// `outcome.json`.
    pub file: OutcomeFile,
    /// `model.json`.
    pub model: Model,
    /// `report.html`.
    pub page: String,
    /// How long the solve took.
    pub seconds: f64,
}

/// Solves a round. `notes` are put before the solve's own warnings in the outcome and on the page.
pub fn defend(
    schema: Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    notes: Vec<OutcomeWarning>,
    timing: Timing,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let started = Instant::now();
    let outcome = solve(&loaded.round, settings, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    let told = if timing == Timing::Recorded { seconds } else { 0.0 };
    let said = notes.iter().map(|note| note.message.clone()).collect();
    let warnings = loaded.outcome_warnings().into_iter().chain(notes).collect();
    let file = OutcomeFile::new(&schema, &loaded.round, &outcome, warnings, told)?
        .with_overlaps(loaded.overlaps.clone())?;
    let context = PageContext {
        unreliable: &[],
        measured: page::measured_on_root(&loaded.round, &file)?,
        notes: said,
        timing,
    };
    let page = page::render(&file, &outcome, context);
    let model = Model::new(schema, outcome.theta.clone())?;
    Ok(Defended { outcome, file, model, page, seconds })
}
