//! The server's side: from proxies and roots to a model.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_core::{CheckedSettings, Observer, sweep};
use equipoise_data::{
    LoadedRound, OutputFolder, RoundTables, TableSource, check_origins, load_tables, outcome,
    read_folder,
};
use equipoise_report::OutcomePage;
use equipoise_report::defend::{absence_warning, write_files};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Stage, arguments, exception};
use crate::model::Model;
use crate::schema::Schema;
use crate::table::sources;
use crate::task;

/// Runs the defense on a loaded round. Returns `outcome.json` and the model.
pub(crate) fn defend_loaded(
    schema: &equipoise_data::Schema,
    loaded: &LoadedRound,
    settings: &CheckedSettings,
    with_sweep: bool,
    observer: &mut dyn Observer,
) -> anyhow::Result<(String, Model)> {
    let mut solved = equipoise_report::defend::defend(schema, loaded, settings, observer)?;
    if with_sweep {
        solved.sweep = sweep(&loaded.round, settings, |_, _| {})?;
    }
    Ok((outcome::to_json(&solved), Model(equipoise_data::Model::of(&solved, schema)?)))
}

/// Checks options of the command `defend`.
#[pyfunction]
pub(crate) fn check_settings(options: &Bound<'_, PyDict>) -> PyResult<()> {
    match api::solve_settings(&arguments(options)?) {
        Ok(_) => Ok(()),
        Err(error) => Err(exception(options.py(), &error, Stage::Setting)),
    }
}

/// Writes outcome.json, model.json, weights.csv and report.html to a folder. All of them follow from outcome.json.
#[pyfunction]
pub(crate) fn write_outcome(
    py: Python<'_>,
    outcome_json: &str,
    schema: &Schema,
    folder: PathBuf,
    force: bool,
) -> PyResult<()> {
    let write = || -> anyhow::Result<()> {
        let outcome = outcome::from_json(outcome_json, "the outcome".as_ref())?;
        let folder = OutputFolder::create(&folder, force)?;
        write_files(&OutcomePage::new(&outcome, &schema.0)?, folder.path())?;
        folder.commit()?;
        Ok(())
    };
    write().map_err(|error| exception(py, &error, Stage::Solve))
}

/// `report.html` of an outcome.
#[pyfunction]
pub(crate) fn outcome_page(
    py: Python<'_>,
    outcome_json: &str,
    schema: &Schema,
) -> PyResult<String> {
    let page = || -> anyhow::Result<String> {
        let outcome = outcome::from_json(outcome_json, "the outcome".as_ref())?;
        Ok(OutcomePage::new(&outcome, &schema.0)?.render())
    };
    page().map_err(|error| exception(py, &error, Stage::Solve))
}

/// The tables of a round: two folders, or the tables of each client.
#[derive(FromPyObject)]
pub(crate) enum Clients<'py> {
    Folder(PathBuf),
    Tables(Vec<(String, Bound<'py, PyAny>)>),
}

/// Runs the defense. Options are those of the command `defend`. Returns `outcome.json` and the model.
#[pyfunction]
#[pyo3(signature = (proxies, roots, schema, options, *, sweep, allow_missing, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn defend(
    py: Python<'_>,
    proxies: Clients<'_>,
    roots: Clients<'_>,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
    sweep: bool,
    allow_missing: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Model)> {
    let settings = api::solve_settings(&arguments(options)?)
        .map_err(|error| exception(py, &error, Stage::Setting))?;
    let proxies = tables_of(py, "proxy", proxies)?;
    let mut roots = tables_of(py, "root", roots)?;
    roots.sort_by(|(a, _), (b, _)| a.cmp(b));
    let is_absent = |(client, _): &(String, TableSource)| {
        allow_missing && !proxies.iter().any(|(other, _)| other == client)
    };
    let (absent, roots): (Vec<_>, Vec<_>) = roots.into_iter().partition(is_absent);
    let absences: Vec<_> = absent.iter().map(|(client, _)| absence_warning(client)).collect();
    let files: Vec<(String, PathBuf)> = proxies
        .iter()
        .filter(|(_, table)| matches!(table, TableSource::File { .. }))
        .map(|(client, table)| (client.clone(), table.name().to_path_buf()))
        .collect();
    let tables = RoundTables::new(proxies, roots)
        .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
    let schema = schema.0.clone();
    task::run(py, Stage::Solve, progress, move |watcher| {
        let about_origins = check_origins(&files, &schema, settings.fairness)?;
        let mut loaded = load_tables(tables, &schema)?;
        loaded.warnings.splice(0..0, about_origins);
        loaded.warnings.extend(absences);
        watcher.check()?;
        defend_loaded(&schema, &loaded, &settings, sweep, watcher)
    })
}

pub(crate) fn tables_of(
    py: Python<'_>,
    role: &str,
    clients: Clients<'_>,
) -> PyResult<Vec<(String, TableSource)>> {
    match clients {
        Clients::Tables(tables) => sources(role, tables),
        Clients::Folder(folder) => {
            let files =
                read_folder(&folder).map_err(|error| exception(py, &error.into(), Stage::Solve))?;
            Ok(files.into_iter().map(|(client, path)| (client, (&path).into())).collect())
        }
    }
}
