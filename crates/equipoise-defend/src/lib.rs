//! From a round to the files of its outcome: solve, measure, render, write.
//!
//! `defend`, the demo and the round server all take this path, so the same inputs give the same files everywhere.

use std::path::Path;
use std::time::Instant;

use equipoise_core::{
    CheckedSettings, Defense, Metrics, NoopObserver, Observer, Rows, Settings, Warning, solve,
};
use equipoise_data::{
    ColumnValues, LoadedRound, Model, OutcomeFile, OutputColumn, Schema, write_atomically,
    write_table,
};
use equipoise_report::{Measured, OutcomeReport};

/// Why a round could not be defended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The solve failed.
    #[error(transparent)]
    Solve(#[from] equipoise_core::Error),
    /// The outcome is inconsistent, or could not be written.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
}

/// Whether the outcome contains the duration of the solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timing {
    /// It does, so no two outcomes have the same bytes.
    #[default]
    Recorded,
    /// `seconds` is 0: the same inputs give the same bytes, as a signed outcome requires.
    Omitted,
}

/// What only the caller knows about a round.
#[derive(Default)]
pub struct Context<'a> {
    /// Warnings besides those about its tables.
    pub warnings: Vec<Warning>,
    /// Whether the outcome contains the duration of the solve.
    pub timing: Timing,
    /// Ids of clients known to be unreliable: in a demo, never in a real round.
    pub unreliable: &'a [&'a str],
    /// Rows on which the report measures the models. Default: the root.
    pub test: Option<&'a Rows>,
}

/// A solved round, ready to be written.
#[derive(Debug)]
pub struct Defended {
    /// `outcome.json`.
    pub file: OutcomeFile,
    /// `model.json`.
    pub model: Model,
    /// `report.html`.
    pub page: String,
    /// Figures of the model on the rows of the report.
    pub metrics: Metrics,
    /// Duration of the solve.
    pub seconds: f64,
}

/// Solves a round and renders its report, which compares the model with the pooled one.
pub fn defend(
    schema: &Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    context: Context<'_>,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let round = &loaded.round;
    let started = Instant::now();
    let outcome = solve(round, settings, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    let model = Model::new(schema.clone(), outcome.theta.clone())?;

    let root = round.root().all_rows()?;
    let (rows, table) = context.test.map_or((&root, "the root"), |rows| (rows, "the test rows"));
    let measure = |defense, theta: &[f64]| -> Result<Measured, Error> {
        Ok(Measured { defense, rows: table.to_owned(), metrics: Metrics::of(theta, rows)? })
    };
    let mut measured = vec![measure(settings.defense, &outcome.theta)?];
    let metrics = measured[0].metrics.clone();
    if settings.defense != Defense::Pooled {
        let pooled = Settings { defense: Defense::Pooled, ..**settings }.validate()?;
        let theta = solve(round, &pooled, &mut NoopObserver)?.theta;
        measured.push(measure(Defense::Pooled, &theta)?);
    }

    let warnings = loaded.warnings.iter().cloned().chain(context.warnings).collect();
    let recorded = if context.timing == Timing::Recorded { seconds } else { 0.0 };
    let overlaps = loaded.overlaps.clone();
    let file = OutcomeFile::new(schema, outcome, warnings, overlaps, recorded)?;
    let unreliable = context.unreliable;
    let title = "Outcome of a round";
    let page = OutcomeReport { title, file: &file, unreliable, measured }.render();
    Ok(Defended { file, model, page, metrics, seconds })
}

impl Defended {
    /// Writes outcome.json, model.json, weights.csv and report.html to a folder that exists.
    pub fn write_files(&self, folder: &Path) -> Result<(), Error> {
        let page = self.page.as_bytes();
        write_atomically(&folder.join("report.html"), false, |out| out.write_all(page))?;
        self.file.write(&folder.join("outcome.json"), false)?;
        self.model.write(&folder.join("model.json"), false)?;
        let clients = &self.file.outcome.clients;
        let ids = clients.iter().map(|client| client.id.clone()).collect();
        let weights = clients.iter().map(|client| client.weight).collect();
        let rows = clients.iter().map(|client| client.proxy_rows as u64).collect();
        let columns = [
            OutputColumn::new("client", ColumnValues::Texts(ids)),
            OutputColumn::new("weight", ColumnValues::Numbers(weights)),
            OutputColumn::new("rows", ColumnValues::Counts(rows)),
        ];
        write_table(&folder.join("weights.csv"), &columns, false)?;
        Ok(())
    }
}
