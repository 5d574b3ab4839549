//! `equipoise data list`: what is known of each dataset.

use clap::Args;
use equipoise_lab::{DATASETS, Dataset};
use serde::Serialize;

use crate::answer::Answer;
use crate::figures::table;
use crate::output::Output;

/// List the datasets that experiments run on
///
/// Prints for each its rows, its label with the value that counts as positive, its sensitive attribute with
/// the privileged value, the name and the sha256 of its file, and the home that it is fetched from.
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

/// A column and the value of it that counts.
#[derive(Serialize)]
struct Column {
    column: &'static str,
    value: &'static str,
}

/// Runs the command.
pub(crate) fn run(_: &ListArgs, output: &Output) -> anyhow::Result<Answer> {
    let document = Document { datasets: DATASETS.iter().map(Entry::new).collect() };
    output.result(&document, in_words)?;
    Ok(Answer::Done)
}

impl Entry {
    fn new(dataset: &Dataset) -> Self {
        let column = |(column, value)| Column { column, value };
        Self {
            name: dataset.name,
            title: dataset.title,
            rows: dataset.rows,
            label: column(dataset.label),
            sensitive: column(dataset.sensitive),
            file: dataset.file,
            sha256: dataset.sha256,
            home: dataset.home,
        }
    }
}

/// A table of what is short, then digests and homes, which are too long to stand side by side.
fn in_words() -> String {
    let equals = |(column, value)| format!("{column} = {value}");
    let rows = DATASETS.iter().map(|dataset| {
        vec![
            dataset.name.to_owned(),
            dataset.rows.to_string(),
            equals(dataset.label),
            equals(dataset.sensitive),
            dataset.file.to_owned(),
        ]
    });
    let mut text = table(&["name", "rows", "label", "sensitive", "file"], rows.collect(), &[1]);
    for (heading, long) in [
        ("sha256", (|dataset| dataset.sha256) as fn(&Dataset) -> &'static str),
        ("home", |dataset| dataset.home),
    ] {
        let rows = DATASETS.iter().map(|dataset| vec![dataset.name.into(), long(dataset).into()]);
        text.push('\n');
        text += &table(&["name", heading], rows.collect(), &[]);
    }
    text
}
