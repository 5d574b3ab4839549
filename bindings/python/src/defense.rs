//! The server's side: from proxies and trusted rows to a model.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_core::{CheckedSettings, Observer, sweep};
use equipoise_data::{
    Absent, LoadedRound, OutputFolder, Trusted, check_origins, load_round_with, load_tables,
    outcome, read_folder,
};
use equipoise_report::OutcomePage;
use equipoise_report::defend::{absence_warning, write_files};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Stage, arguments, exception};
use crate::model::Model;
use crate::schema::Schema;
use crate::table::{proxy_table, raw_table};
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

/// Proxies: a folder, or the table of each client.
#[derive(FromPyObject)]
pub(crate) enum Clients<'py> {
    Folder(PathBuf),
    Tables(Vec<(String, Bound<'py, PyAny>)>),
}

/// Runs the defense. Options are those of the command `defend`. Returns `outcome.json` and the model.
#[pyfunction]
#[pyo3(signature = (proxies, trusted, schema, options, *, sweep, allow_missing, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn defend(
    py: Python<'_>,
    proxies: Clients<'_>,
    trusted: TrustedRows<'_>,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
    sweep: bool,
    allow_missing: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Model)> {
    let settings = api::solve_settings(&arguments(options)?)
        .map_err(|error| exception(py, &error, Stage::Setting))?;
    let (schema, fairness) = (schema.0.clone(), settings.fairness);
    let trusted = trusted.open(&schema)?;
    let absent = if allow_missing { Absent::LeaveOut } else { Absent::Refuse };
    let (files, load): (_, Load) = match proxies {
        Clients::Folder(proxies) => {
            let files = read_folder(&proxies)
                .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
            (files, Box::new(move |schema| load_round_with(&proxies, trusted, schema, absent)))
        }
        Clients::Tables(proxies) => {
            let open = |(client, table): (String, Bound<'_, PyAny>)| {
                let opened = proxy_table(&format!("the proxy of client `{client}`"), &table)?;
                Ok((client, opened))
            };
            let proxies = proxies.into_iter().map(open).collect::<PyResult<Vec<_>>>()?;
            let files = proxies.iter().filter(|(_, table)| !table.is_in_memory());
            let files =
                files.map(|(client, table)| (client.clone(), table.file().into())).collect();
            (files, Box::new(move |schema| load_tables(proxies, trusted, schema, absent)))
        }
    };
    task::run(py, Stage::Solve, progress, move |watcher| {
        let about_origins = check_origins(&files, &schema, fairness)?;
        let mut loaded = load(&schema)?;
        loaded.warnings.splice(0..0, about_origins);
        loaded.warnings.extend(loaded.absent.iter().map(|client| absence_warning(client)));
        watcher.check()?;
        defend_loaded(&schema, &loaded, &settings, sweep, watcher)
    })
}

/// Reads the tables of a round.
type Load =
    Box<dyn FnOnce(&equipoise_data::Schema) -> Result<LoadedRound, equipoise_data::Error> + Send>;

/// Trusted rows: a file or folder, one table (in a tuple, which tells it from a list of tables), or those of each client.
#[derive(FromPyObject)]
pub(crate) enum TrustedRows<'py> {
    Path(PathBuf),
    Table((Bound<'py, PyAny>,)),
    Tables(Vec<(String, Bound<'py, PyAny>)>),
}

impl TrustedRows<'_> {
    /// Opens tables, but reads no rows.
    pub(crate) fn open(self, schema: &equipoise_data::Schema) -> PyResult<Trusted> {
        let of_client = |(client, table): (String, Bound<'_, PyAny>)| {
            let name = format!("the trusted rows of client `{client}`");
            let opened = raw_table(&name, &table, schema)?;
            Ok((client, opened))
        };
        Ok(match self {
            Self::Path(path) => Trusted::Path(path),
            Self::Table((table,)) => Trusted::Table(raw_table("the trusted rows", &table, schema)?),
            Self::Tables(tables) => {
                Trusted::Tables(tables.into_iter().map(of_client).collect::<PyResult<_>>()?)
            }
        })
    }
}
