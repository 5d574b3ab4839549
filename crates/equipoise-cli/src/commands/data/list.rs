//! `equipoise data list`.

use clap::Args;
use equipoise_lab::{DATASETS, Dataset};
use serde_json::json;

use crate::formatting::table;
use crate::output::{Answer, Output};

/// List the datasets used by `equipoise experiment`
///
/// Prints the number of rows of each dataset, its label and sensitive columns with their positive and privileged
/// values, the name and SHA-256 digest of its file, and the address it is downloaded from.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise data list")]
pub(crate) struct ListArgs {}

pub(crate) fn run(_: &ListArgs, output: &Output) -> anyhow::Result<Answer> {
    let column = |(column, value): (&str, &str)| json!({ "column": column, "value": value });
    let datasets = DATASETS.map(|dataset| {
        json!({
            "name": dataset.name,
            "title": dataset.title,
            "rows": dataset.rows,
            "label": column(dataset.label),
            "sensitive": column(dataset.sensitive),
            "file": dataset.file,
            "sha256": dataset.sha256,
            "home": dataset.home,
        })
    });
    output.result(&json!({ "datasets": datasets }), describe)
}

/// A table of the short properties, then digests and addresses, which are too long for a table.
fn describe() -> String {
    let equals = |(column, value)| format!("{column} = {value}");
    let rows = DATASETS.map(|dataset| {
        let (label, sensitive) = (equals(dataset.label), equals(dataset.sensitive));
        vec![dataset.name.into(), dataset.rows.to_string(), label, sensitive, dataset.file.into()]
    });
    let long = |heading, value: fn(&Dataset) -> &'static str| {
        let rows = DATASETS.map(|dataset| vec![dataset.name.into(), value(&dataset).into()]);
        table(&["name", heading], rows.into(), &[])
    };
    [
        table(&["name", "rows", "label", "sensitive", "file"], rows.into(), &[1]),
        long("sha256", |dataset| dataset.sha256),
        long("source", |dataset| dataset.home),
    ]
    .join("\n")
}
