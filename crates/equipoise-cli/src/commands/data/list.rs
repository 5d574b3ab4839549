//! `equipoise data list`.

use clap::Args;
use equipoise_lab::{DATASETS, Dataset};
use serde::Serialize;

use crate::figures::table;
use crate::output::{Answer, Output};

/// List the datasets used by `equipoise experiment`
///
/// Prints the number of rows of each dataset, its label and sensitive columns with their positive and privileged
/// values, the name and SHA-256 digest of its file, and the address it is downloaded from.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise data list")]
pub(crate) struct ListArgs {}

#[derive(Serialize)]
struct Document {
    datasets: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    title: &'static str,
    rows: usize,
    label: Column,
    sensitive: Column,
    file: &'static str,
    sha256: &'static str,
    home: &'static str,
}

/// A column, and its positive or privileged value.
#[derive(Serialize)]
struct Column {
    column: &'static str,
    value: &'static str,
}

pub(crate) fn run(_: &ListArgs, output: &Output) -> anyhow::Result<Answer> {
    let column = |(column, value)| Column { column, value };
    let datasets = DATASETS.map(|dataset| Entry {
        name: dataset.name,
        title: dataset.title,
        rows: dataset.rows,
        label: column(dataset.label),
        sensitive: column(dataset.sensitive),
        file: dataset.file,
        sha256: dataset.sha256,
        home: dataset.home,
    });
    output.result(&Document { datasets: datasets.into() }, describe)
}

/// A table of the short properties, then digests and addresses, which are too long for it.
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
        long("home", |dataset| dataset.home),
    ]
    .join("\n")
}
