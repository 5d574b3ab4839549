//! Adapts a published model to a client's rows.

use equipoise_cli::api;
use equipoise_data::{Purpose, read_proxy_of, read_rows_of};
use pyo3::prelude::*;

use crate::error::{Stage, chosen, json};
use crate::model::Model;
use crate::table::{proxy_table, raw_table};
use crate::task;

/// What the command `adapt --json` prints, and the model that it writes.
#[pyfunction]
pub(crate) fn adapt(
    model: &Bound<'_, Model>,
    table: &Bound<'_, PyAny>,
    proxy: Option<&Bound<'_, PyAny>>,
    choose: Option<&str>,
) -> PyResult<(Py<PyAny>, Model)> {
    let py = table.py();
    let choose = choose.map(|name| chosen(py, "choose", name)).transpose()?;
    let model = model.get().0.clone();
    let table = raw_table("the table", table, model.schema())?;
    let proxy = proxy.map(|proxy| proxy_table("the proxy", proxy)).transpose()?;
    let (document, model) = task::run(py, Stage::Table, None, move |watcher| {
        let data = read_rows_of(table, model.schema(), Purpose::Data)?;
        let proxy = proxy.map(|proxy| read_proxy_of(proxy, model.schema())).transpose()?;
        watcher.check()?;
        api::adapt_model(&model, data, proxy.as_ref(), choose)
    })?;
    Ok((json(py, &document)?, Model(model)))
}
