//! The server's side: from proxies and roots to a model.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_core::{CheckedSettings, Observer, sweep};
use equipoise_data::{
    LoadedRound, OutputFolder, Table, check_origins, load_round, load_round_of_present,
    load_tables, outcome, read_folder,
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
    let (schema, fairness) = (schema.0.clone(), settings.fairness);
    let (files, load): (_, Load) = match (proxies, roots) {
        (Clients::Folder(proxies), Clients::Folder(roots)) => {
            let files = read_folder(&proxies)
                .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
            let load = move |schema: &_| match allow_missing {
                true => load_round_of_present(&proxies, &roots, schema),
                false => Ok((load_round(&proxies, &roots, schema)?, Vec::new())),
            };
            (files, Box::new(load))
        }
        (proxies, roots) => {
            let proxies = proxies_of(py, proxies)?;
            let roots = roots_of(py, roots, &schema)?;
            let is_absent = |(client, _): &(String, Table)| {
                allow_missing && !proxies.iter().any(|(other, _)| other == client)
            };
            let (absent, roots): (Vec<_>, Vec<_>) = roots.into_iter().partition(is_absent);
            let mut absent: Vec<String> = absent.into_iter().map(|(client, _)| client).collect();
            absent.sort();
            let files = proxies.iter().filter(|(_, table)| !table.is_in_memory());
            let files =
                files.map(|(client, table)| (client.clone(), table.file().into())).collect();
            let load = move |schema: &_| Ok((load_tables(proxies, roots, schema)?, absent));
            (files, Box::new(load))
        }
    };
    task::run(py, Stage::Solve, progress, move |watcher| {
        let about_origins = check_origins(&files, &schema, fairness)?;
        let (mut loaded, absent) = load(&schema)?;
        loaded.warnings.splice(0..0, about_origins);
        loaded.warnings.extend(absent.iter().map(|client| absence_warning(client)));
        watcher.check()?;
        defend_loaded(&schema, &loaded, &settings, sweep, watcher)
    })
}

/// Reads the tables of a round, and says which clients are absent.
type Load = Box<
    dyn FnOnce(&equipoise_data::Schema) -> Result<(LoadedRound, Vec<String>), equipoise_data::Error>
        + Send,
>;

fn proxies_of(py: Python<'_>, clients: Clients<'_>) -> PyResult<Vec<(String, Table)>> {
    clients.open(py, |client, table| proxy_table(&format!("the proxy of client `{client}`"), table))
}

/// The roots of clients.
pub(crate) fn roots_of(
    py: Python<'_>,
    clients: Clients<'_>,
    schema: &equipoise_data::Schema,
) -> PyResult<Vec<(String, Table)>> {
    clients.open(py, |client, table| {
        raw_table(&format!("the root of client `{client}`"), table, schema)
    })
}

impl Clients<'_> {
    fn open(
        self,
        py: Python<'_>,
        open: impl Fn(&str, &Bound<'_, PyAny>) -> PyResult<Table>,
    ) -> PyResult<Vec<(String, Table)>> {
        let tables = match self {
            Self::Tables(tables) => tables,
            Self::Folder(folder) => {
                let files = read_folder(&folder)
                    .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
                let object = |(client, path): (String, PathBuf)| {
                    Ok((client, path.into_pyobject(py)?.into_any()))
                };
                files.into_iter().map(object).collect::<PyResult<_>>()?
            }
        };
        let open = |(client, table): (String, Bound<'_, PyAny>)| {
            let opened = open(&client, &table)?;
            Ok((client, opened))
        };
        tables.into_iter().map(open).collect()
    }
}
