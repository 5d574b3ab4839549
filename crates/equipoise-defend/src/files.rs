//! The files of an outcome. Without test rows, all of them follow from outcome.json and the schema, so anyone can
//! render them again and compare.

use equipoise_data::{ColumnValues, Model, OutcomeFile, OutputColumn, Schema, csv_bytes};
use equipoise_report::OutcomeReport;

use crate::Error;

/// Names of the files, in the order of [`files_of`].
pub const FILES: [&str; 4] = ["outcome.json", "model.json", "weights.csv", "report.html"];

/// Names and contents of the files of an outcome, as this version of the program writes them.
pub fn files_of(
    file: &OutcomeFile,
    schema: &Schema,
) -> Result<[(&'static str, Vec<u8>); 4], Error> {
    let model = model_of(file, schema)?;
    named(file, &model, OutcomeReport::of_file(file, schema, &model).render())
}

/// `report.html` of an outcome.
pub fn page_of(file: &OutcomeFile, schema: &Schema) -> Result<String, Error> {
    Ok(OutcomeReport::of_file(file, schema, &model_of(file, schema)?).render())
}

fn model_of(file: &OutcomeFile, schema: &Schema) -> Result<Model, Error> {
    let model = Model::new(schema.clone(), file.outcome.theta.clone())?;
    Ok(model.made_for(file.outcome.settings.fairness))
}

pub(crate) fn named(
    file: &OutcomeFile,
    model: &Model,
    page: String,
) -> Result<[(&'static str, Vec<u8>); 4], Error> {
    let [outcome_json, model_json, weights_csv, report_html] = FILES;
    Ok([
        (outcome_json, file.to_json().into_bytes()),
        (model_json, model.to_json().into_bytes()),
        (weights_csv, weights(file)?),
        (report_html, page.into_bytes()),
    ])
}

fn weights(file: &OutcomeFile) -> Result<Vec<u8>, Error> {
    let clients = &file.outcome.clients;
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
