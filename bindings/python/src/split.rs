//! One table split among clients, to rehearse a round.

use equipoise_cli::api;
use equipoise_data::{Purpose, read_rows_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Stage, arguments, exception, json};
use crate::output::bytes;
use crate::schema::Schema;
use crate::table::raw_table;
use crate::task;

/// A client and its rows (64-bit integers, counted from 0): to train on, to test models on, and trusted ones.
type ClientRows<'py> = (String, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The clients, what `split --json` prints about them, and warnings about the table.
type Rehearsal<'py> = (Vec<ClientRows<'py>>, Py<PyAny>, Vec<String>);

/// Splits a table. Options are those of the command `split`.
#[pyfunction]
pub(crate) fn split_rows<'py>(
    table: &Bound<'py, PyAny>,
    schema: &Schema,
    options: &Bound<'_, PyDict>,
) -> PyResult<Rehearsal<'py>> {
    let py = table.py();
    let settings = api::split_settings(&arguments(options)?)
        .map_err(|error| exception(py, &error, Stage::Setting))?;
    let (table, schema) = (raw_table("the table", table, &schema.0)?, schema.0.clone());
    let (split, warnings) = task::run(py, Stage::Setting, None, move |_| {
        let table = read_rows_of(table, &schema, Purpose::Data)?;
        let split = api::split_rows(&table.rows, &schema, &settings)?;
        Ok((split, table.warnings))
    })?;
    let positions = |rows: &[usize]| {
        let rows: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
        bytes(py, &rows)
    };
    let clients = split.clients.iter().map(|client| {
        let rows = &client.members;
        (client.id.clone(), positions(&rows.train), positions(&rows.test), positions(&rows.root))
    });
    let warnings = warnings.into_iter().map(|warning| warning.message).collect();
    Ok((clients.collect(), json(py, &split.document)?, warnings))
}
