//! Proxies: make and check them.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_core::{
    ClientData, Fairness, PrivacyStatement, ProxyModels, Rows, generate_proxy, test_fair_proxy,
};
use equipoise_data::{
    ProxyOrigin, Purpose, Schema as DataSchema, proxy_columns, read_proxy, read_proxy_of,
    read_rows_of,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Stage, arguments, exception, json, parse};
use crate::output::OutputTable;
use crate::schema::Schema;
use crate::table::{proxy_table, raw_table};
use crate::task;

/// A finished proxy.
#[pyclass(frozen, module = "equipoise._core")]
pub(crate) struct Proxy {
    rows: Rows,
    /// `None` for raw rows.
    fairness: Option<Fairness>,
    privacy: Option<PrivacyStatement>,
    schema: DataSchema,
    summary: serde_json::Value,
}

#[pymethods]
impl Proxy {
    /// The table to send.
    fn table(&self, py: Python<'_>) -> PyResult<OutputTable> {
        let columns = proxy_columns(&self.rows, &self.schema)
            .map_err(|error| exception(py, &error.into(), Stage::Proxy))?;
        let (privacy, raw_rows) = (self.privacy.clone(), self.fairness.is_none());
        let origin = ProxyOrigin { privacy, raw_rows, ..ProxyOrigin::default() };
        OutputTable::new(&columns, origin.properties())
    }

    /// What the command `proxy --json` prints.
    fn summary(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json(py, &self.summary)
    }

    /// Writes the table to a file, in the format that its name ends with.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        let origin = (self.fairness, self.privacy.clone());
        py.detach(|| api::write_proxy(&path, &self.rows, &self.schema, origin, force))
            .map_err(|error| exception(py, &error.into(), Stage::Proxy))
    }
}

/// Makes a proxy of raw rows. Options are those of the command `proxy`.
#[pyfunction]
pub(crate) fn make_proxy(
    table: &Bound<'_, PyAny>,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Proxy> {
    let py = table.py();
    let settings = api::proxy_settings(&arguments(options)?)
        .map_err(|error| exception(py, &error, Stage::Setting))?;
    let (opened, schema) = (raw_table("the data", table, &schema.0)?, schema.0.clone());
    task::run(py, Stage::Proxy, progress, move |watcher| {
        let data = read_rows_of(opened, &schema, Purpose::Data)?;
        watcher.check()?;
        let Some(settings) = settings else {
            let summary = api::summarise_raw(&data, &schema)?;
            return Ok(Proxy { rows: data.rows, fairness: None, privacy: None, schema, summary });
        };
        let client = ClientData { rows: &data.rows, columns: schema.encoded_columns() };
        let generated = generate_proxy(client, &settings, watcher)?;
        let epsilon = settings.epsilon.unwrap_or(0.0);
        let test = test_fair_proxy(&generated.rows, &data.rows, settings.fairness, epsilon)?;
        watcher.check()?;
        let models = ProxyModels::measure(&generated.rows, &data.rows, &test)?;
        let summary = api::summarise_proxy(&data, &generated, &test, &models, &settings, &schema)?;
        let fairness = Some(settings.fairness);
        Ok(Proxy { rows: generated.rows, fairness, privacy: generated.privacy, schema, summary })
    })
}

/// Checks whether a proxy is fair on the data it was made of: what the command `check --json` prints.
#[pyfunction]
pub(crate) fn check_proxy(
    proxy: &Bound<'_, PyAny>,
    data: &Bound<'_, PyAny>,
    schema: &Schema,
    fairness: &str,
    max_gap: Option<f64>,
    epsilon: Option<f64>,
) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let fairness = parse(py, fairness)?;
    let (proxy, data) = (proxy_table("the proxy", proxy)?, raw_table("the data", data, &schema.0)?);
    let schema = schema.0.clone();
    let document = task::run(py, Stage::Proxy, None, move |watcher| {
        let proxy = read_proxy_of(proxy, &schema)?;
        let data = read_rows_of(data, &schema, Purpose::Data)?;
        watcher.check()?;
        api::check_proxy(&proxy, &data, fairness, max_gap, epsilon)
    })?;
    json(py, &document)
}

/// Validates a received file as a round server does, in a sandboxed child process, and writes its canonical table. The
/// executable and the prefix start the program `equipoise`. Returns the verdict.
#[pyfunction]
pub(crate) fn validate_proxy(
    py: Python<'_>,
    file: PathBuf,
    canonical: PathBuf,
    schema: &Schema,
    executable: PathBuf,
    prefix: Vec<String>,
) -> PyResult<Py<PyAny>> {
    let schema = schema.0.clone();
    let verdict = task::run(py, Stage::Proxy, None, move |_| {
        api::validate_proxy((executable, prefix), file, canonical, &schema)
    })?;
    json(py, &verdict)
}

/// Why a client must not send a file as its proxy, by what the file says about itself and by its values. `None`: it may.
#[pyfunction]
pub(crate) fn reason_not_to_send(
    py: Python<'_>,
    file: PathBuf,
    client: &str,
    schema: &Schema,
    fairness: &str,
) -> PyResult<Option<String>> {
    let fairness: Fairness = parse(py, fairness)?;
    let (schema, client) = (schema.0.clone(), client.to_owned());
    task::run(py, Stage::Proxy, None, move |_| {
        let origin = ProxyOrigin::read(&file)?;
        if origin.raw_rows {
            return Ok(Some("the file holds real rows, only written as numbers".to_owned()));
        }
        if origin.schema_sha256.is_some_and(|made_with| made_with != schema.digest()) {
            return Ok(Some("the file was made with another schema".to_owned()));
        }
        let warning = origin.warn_of_client(&file, &client);
        if let Some(warning) = warning.or_else(|| origin.warn_of_criterion(&file, fairness)) {
            return Ok(Some(warning.message));
        }
        read_proxy(&file, &schema)?;
        Ok(None)
    })
}
