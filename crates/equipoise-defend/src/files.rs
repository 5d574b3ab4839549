//! The files of an outcome.

use std::path::Path;

use equipoise_data::{
    ColumnValues, Model, OutcomeFile, OutputColumn, write_atomically, write_table,
};

use crate::Error;

/// outcome.json, model.json, weights.csv and report.html, into a folder that exists.
pub fn write_files(
    folder: &Path,
    file: &OutcomeFile,
    model: &Model,
    page: &str,
) -> Result<(), Error> {
    write_atomically(&folder.join("report.html"), false, |out| out.write_all(page.as_bytes()))?;
    file.write(&folder.join("outcome.json"), false)?;
    model.write(&folder.join("model.json"), false)?;
    let clients = &file.clients;
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
