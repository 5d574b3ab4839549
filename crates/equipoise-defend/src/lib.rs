//! From a round to the files of its outcome: solve, measure, render, write.
//!
//! `defend`, the demo and the round server all take this path, so the same inputs give the same files everywhere.

mod files;

use std::path::Path;
use std::time::Instant;

use equipoise_core::{
    CheckedSettings, ClientAudit, Defense, Metrics, NoopObserver, Observer, Outcome, Rows,
    Settings, Termination, Warning, WarningCode, audit, compare_with_pooled,
    compare_with_root_only, cost_of_blindness, solve, sweep,
};
use equipoise_data::{About, LoadedRound, Model, OutcomeFile, Schema, write_atomically};
use equipoise_report::{Measured, OutcomeReport};

pub use files::{FILES, files_of, page_of};

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
    /// Which round this is and who ran it, as far as is known.
    pub about: About,
    /// Whether the outcome contains the duration of the solve.
    pub timing: Timing,
    /// Ids of clients known to be unreliable: in a demo, never in a real round.
    pub unreliable: &'a [&'a str],
    /// Whether to compute the trade-off between accuracy and fairness as well, which takes several solves.
    pub sweep: bool,
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

/// A solved round without its report, which [`page_of`] renders.
#[derive(Debug)]
pub struct Judged {
    /// `outcome.json`.
    pub file: OutcomeFile,
    /// `model.json`.
    pub model: Model,
    /// Duration of the solve.
    pub seconds: f64,
    /// The pooled model, unless it is the model.
    pooled: Option<Vec<f64>>,
}

/// Solves a round, compares its model with simpler ones, and renders its report.
pub fn defend(
    schema: &Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    context: Context<'_>,
    observer: &mut dyn Observer,
) -> Result<Defended, Error> {
    let (test, unreliable) = (context.test, context.unreliable);
    let Judged { file, model, seconds, pooled } =
        judge(schema, loaded, settings, context, observer)?;
    let mut report = OutcomeReport::of_file(&file, schema, &model);
    if let Some(rows) = test {
        report.measured = measure_on(rows, &file, pooled.as_deref())?;
    }
    report.unreliable = unreliable;
    let metrics = report.measured[0].metrics.clone();
    let page = report.render();
    Ok(Defended { file, model, page, metrics, seconds })
}

/// Solves a round and compares its model with simpler ones. What the context says about the report is not used.
pub fn judge(
    schema: &Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    context: Context<'_>,
    observer: &mut dyn Observer,
) -> Result<Judged, Error> {
    let round = &loaded.round;
    let started = Instant::now();
    let mut outcome = solve(round, settings, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    let model = Model::new(schema.clone(), outcome.theta.clone())?.made_for(settings.fairness);

    let pooled = match settings.defense {
        Defense::Pooled => None,
        _ => {
            let pooled = Settings { defense: Defense::Pooled, ..**settings }.validate()?;
            Some(solve(round, &pooled, &mut NoopObserver)?.theta)
        }
    };

    if let Some(pooled) = &pooled {
        outcome.comparisons.pooled =
            compare_with_pooled(round, &outcome.theta, pooled, settings.fairness)?;
    }
    let is_root_only =
        settings.defense == Defense::RootOnly || outcome.termination == Termination::FellBack;
    if !is_root_only {
        outcome.comparisons.root_only = compare_with_root_only(round, &outcome.theta, settings)?;
    }
    outcome.update_figure_warnings();
    add_audit(loaded, &mut outcome)?;

    let warnings = loaded.warnings.iter().cloned().chain(context.warnings).collect();
    let recorded = if context.timing == Timing::Recorded { seconds } else { 0.0 };
    let overlaps = loaded.overlaps.clone();
    let mut file = OutcomeFile::new(schema, outcome, warnings, overlaps, recorded)?;
    if let Some(theta) = &pooled {
        file.pooled_root_metrics = Some(Metrics::of(theta, &round.root().all_rows()?)?);
    }
    file.blindness = cost_of_blindness(round, settings)?;
    if context.sweep {
        file.sweep = sweep(round, settings, |_, _| {})?;
    }
    file.about = context.about;
    Ok(Judged { file, model, seconds, pooled })
}

/// A warning that a client is absent: the server has its root, but it sent no proxy.
pub fn absence_warning(client: &str) -> Warning {
    let message =
        format!("client `{client}` is on the roster but did not submit. The outcome excludes it");
    Warning { client: Some(client.to_owned()), ..Warning::new(WarningCode::NoSubmission, message) }
}

/// Adds the audit of every client.
fn add_audit(loaded: &LoadedRound, outcome: &mut Outcome) -> Result<(), Error> {
    let audits = audit(&loaded.round, &outcome.settings, outcome)?;
    for (c, (client, audit)) in outcome.clients.iter_mut().zip(audits).enumerate() {
        let distinct_rows = loaded.distinct_rows.get(c).copied();
        let privacy = loaded.privacy.get(c).cloned().flatten();
        client.audit = Some(ClientAudit { distinct_rows, privacy, ..audit });
    }
    Ok(())
}

/// Figures of the defense and of the pooled model on test rows.
fn measure_on(
    rows: &Rows,
    file: &OutcomeFile,
    pooled: Option<&[f64]>,
) -> Result<Vec<Measured>, Error> {
    let measure = |(defense, theta): (Defense, &[f64])| {
        let metrics = Metrics::of(theta, rows)?;
        Ok(Measured { defense, rows: "the test rows".to_owned(), metrics })
    };
    let own = (file.outcome.settings.defense, &file.outcome.theta[..]);
    [own].into_iter().chain(pooled.map(|theta| (Defense::Pooled, theta))).map(measure).collect()
}

impl Defended {
    /// Writes outcome.json, model.json, weights.csv and report.html to a folder that exists.
    pub fn write_files(&self, folder: &Path) -> Result<(), Error> {
        for (name, content) in files::named(&self.file, &self.model, self.page.clone())? {
            write_atomically(&folder.join(name), false, |out| out.write_all(&content))?;
        }
        Ok(())
    }
}
