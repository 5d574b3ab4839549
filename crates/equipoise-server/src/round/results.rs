//! The files of a solved round, from its inputs alone. The server publishes them, and `verify --solve` computes them
//! again from the same inputs.

use std::path::Path;
use std::time::Instant;

use equipoise_core::{About, Observer, Warning, WarningCode};
use equipoise_data::{load_round, write_atomically, write_json};
use equipoise_report::OutcomePage;
use equipoise_report::defend::{absence_warning, defend, write_files};

use super::solver::SolveError;
use crate::protocol::{ClientId, RoundSpec, SubmissionList};

/// Everything that a solve depends on.
pub(crate) struct SolveInputs<'a> {
    /// `spec.json`: the text whose digest is in the first event of the log.
    pub(crate) spec_json: &'a str,
    /// The submissions of the closed round.
    pub(crate) list: &'a SubmissionList,
    /// Folder with the canonical table of each client that submitted, named after the client.
    pub(crate) proxies: &'a Path,
    /// Folder with the roots of the same clients.
    pub(crate) roots: &'a Path,
}

/// Solves a round and writes its [published files](crate::protocol::PUBLISHED_FILES) to a folder that exists. Returns
/// the duration of the solve.
pub(crate) fn write_results(
    inputs: &SolveInputs<'_>,
    folder: &Path,
    observer: &mut dyn Observer,
) -> Result<f64, SolveError> {
    let spec: RoundSpec = serde_json::from_str(inputs.spec_json).map_err(SolveError::Spec)?;
    let schema = spec.schema()?;
    let mut loaded = load_round(inputs.proxies, inputs.roots, &schema)?;
    loaded.warnings.extend(submission_warnings(inputs.list));
    let settings = spec.settings.validate()?;
    let started = Instant::now();
    let mut outcome = defend(&schema, &loaded, &settings, observer)?;
    let seconds = started.elapsed().as_secs_f64();
    outcome.about = about(&spec);

    write_files(&OutcomePage::new(&outcome, &schema)?, folder)?;
    write_text(&folder.join("spec.json"), inputs.spec_json)?;
    write_text(&folder.join("schema.toml"), &spec.schema_toml)?;
    write_text(&folder.join("submissions.json"), &inputs.list.to_json())?;
    write_json(&folder.join("settings.json"), &spec.settings, false)?;
    Ok(seconds)
}

/// What the outcome says about its round: only what follows from the specification.
pub(crate) fn about(spec: &RoundSpec) -> About {
    About { round: Some(spec.round.to_string()), run_by: Some(spec.audience.clone()), date: None }
}

/// The warnings about absent clients and suspicious submissions, which follow from the list.
pub(crate) fn submission_warnings(list: &SubmissionList) -> Vec<Warning> {
    let warning = |code, client: &ClientId, message: String| Warning {
        client: Some(client.to_string()),
        ..Warning::new(code, message)
    };
    let absent = list.absent.iter().map(|client| absence_warning(client.as_str()));
    let copies = list.submissions.iter().filter_map(|submission| {
        let (client, twin) = (&submission.client, submission.same_table_as.as_ref()?);
        let message = format!("client `{client}` sent the same rows as client `{twin}`");
        Some(warning(WarningCode::SameTable, client, message))
    });
    let is_repetitive = |rows: u64, distinct: u64| distinct.saturating_mul(2) < rows;
    let submissions = list.submissions.iter();
    let repeated = submissions.filter(|s| is_repetitive(s.rows, s.distinct_rows)).map(|s| {
        let (client, rows, distinct) = (&s.client, s.rows, s.distinct_rows);
        let message =
            format!("only {distinct} of the {rows} rows of client `{client}` are distinct");
        warning(WarningCode::RepeatedRows, client, message)
    });
    absent.chain(copies).chain(repeated).collect()
}

fn write_text(path: &Path, text: &str) -> Result<(), equipoise_data::Error> {
    write_atomically(path, false, |out| out.write_all(text.as_bytes()))
}
