//! From a round to its outcome, and from the outcome to its files.
//!
//! `defend`, the demo, the round server and Python all take this path, so the same inputs give the same files everywhere.

use std::path::Path;

use equipoise_core::{
    CheckedSettings, ClientAudit, Defense, NoopObserver, Observer, Outcome, Settings, Termination,
    Warning, WarningCode, audit, compare_with_pooled, compare_with_root_only, cost_of_blindness,
    solve, sort_by_importance,
};
use equipoise_data::{
    ColumnValues, LoadedRound, Model, OutputColumn, Schema, csv_bytes, outcome, write_atomically,
};

use crate::outcome_report::OutcomePage;

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

/// Solves a round, compares its model with simpler ones, and audits every client. Only the caller knows what the outcome
/// is about, and whether it needs a sweep.
pub fn defend(
    schema: &Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let round = &loaded.round;
    let mut outcome = solve(round, settings, observer)?;
    if settings.defense != Defense::Pooled {
        let pooled = Settings { defense: Defense::Pooled, ..**settings }.validate()?;
        let pooled = solve(round, &pooled, &mut NoopObserver)?;
        outcome.comparisons.pooled =
            compare_with_pooled(round, &outcome.theta, &pooled.theta, settings.fairness)?;
        outcome.pooled_root_metrics = Some(pooled.root_metrics);
    }
    let is_root_only =
        settings.defense == Defense::RootOnly || outcome.termination == Termination::FellBack;
    if !is_root_only {
        outcome.comparisons.root_only = compare_with_root_only(round, &outcome.theta, settings)?;
    }
    outcome.blindness = cost_of_blindness(round, settings)?;
    outcome.update_figure_warnings();
    // The audit names coefficients.
    add_inputs(schema, loaded, &mut outcome);
    add_audit(loaded, &mut outcome)?;
    outcome::check(&outcome)?;
    Ok(outcome)
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

/// Adds the schema's names and what was found when the tables were read. Warnings lose their paths, which mean nothing
/// elsewhere.
fn add_inputs(schema: &Schema, loaded: &LoadedRound, outcome: &mut Outcome) {
    outcome.schema_digest = schema.digest().to_string();
    outcome.features = schema.for_model(&outcome.theta).theta_names();
    outcome.overlaps.clone_from(&loaded.overlaps.listed);
    outcome.more_overlaps = loaded.overlaps.more;
    let about_tables =
        loaded.warnings.iter().map(|warning| Warning { file: None, ..warning.clone() });
    outcome.warnings.splice(0..0, about_tables);
    outcome.warnings.extend(loaded.overlaps.warning());
    sort_by_importance(&mut outcome.warnings);
}

/// Names of the files, in the order of [`files`].
pub const FILES: [&str; 4] = ["outcome.json", "model.json", "weights.csv", "report.html"];

/// Names and contents of the files of an outcome, as this version of the program writes them. Unless the page shows more
/// than the outcome, anyone who has outcome.json and the schema can make them again and compare.
pub fn files(page: &OutcomePage<'_>) -> Result<[(&'static str, Vec<u8>); 4], Error> {
    let [outcome_json, model_json, weights_csv, report_html] = FILES;
    Ok([
        (outcome_json, outcome::to_json(page.outcome).into_bytes()),
        (model_json, Model::of(page.outcome, page.schema)?.to_json().into_bytes()),
        (weights_csv, weights(page.outcome)?),
        (report_html, page.render().into_bytes()),
    ])
}

/// Writes the files of an outcome to a folder that exists.
pub fn write_files(page: &OutcomePage<'_>, folder: &Path) -> Result<(), Error> {
    for (name, content) in files(page)? {
        write_atomically(&folder.join(name), false, |out| out.write_all(&content))?;
    }
    Ok(())
}

fn weights(outcome: &Outcome) -> Result<Vec<u8>, Error> {
    let clients = &outcome.clients;
    let ids = clients.iter().map(|client| client.id.clone()).collect();
    let weights = clients.iter().map(|client| client.weight).collect();
    let rows = clients.iter().map(|client| client.proxy_rows as u64).collect();
    let columns = [
        OutputColumn::new("client", ColumnValues::Texts(ids)),
        OutputColumn::new("weight", ColumnValues::Numbers(weights)),
        OutputColumn::new("rows", ColumnValues::Counts(rows)),
    ];
    csv_bytes(&columns).map_err(|source| {
        Error::Data(equipoise_data::Error::Write { file: "weights.csv".into(), source })
    })
}
