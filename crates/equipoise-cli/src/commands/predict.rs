//! `equipoise predict`: scores raw rows.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{
    ColumnValues, Model, OutputColumn, Prediction, TableKind, check_output,
    read_features_for_prediction, write_table,
};
use serde_json::json;

use crate::files::refuse_input_as_output;
use crate::formatting::{count, rate};
use crate::output::{Answer, Output};

/// Score the rows of a table with a model
///
/// Writes a table with one line per row: the row number (from 1), the score, the probability of the positive label, and
/// whether the row is selected (1 or 0). The label column may be missing, and columns that are not in the schema are
/// ignored.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise predict outcome/model.json new.csv -o scores.csv")]
pub(crate) struct PredictArgs {
    /// The model (model.json)
    model: PathBuf,
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    /// Table to write the scores to (.csv, .csv.gz or .parquet)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &PredictArgs, output: &Output) -> anyhow::Result<Answer> {
    TableKind::of(&args.output)?;
    check_output(&args.output, args.force)?;
    refuse_input_as_output(&args.output, &[&args.model, &args.data])?;
    let model = Model::read(&args.model)?;
    let data = read_features_for_prediction(&args.data, model.schema())?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let predictions = model.predict(&data.rows)?;
    write_table(&args.output, &columns(&predictions), args.force)?;
    output.note(format!("wrote {}", args.output.display()));

    let selected = predictions.iter().filter(|prediction| prediction.selected).count();
    let label = &model.schema().label;
    let document = json!({
        "path": args.output,
        "rows": predictions.len(),
        "selected": selected,
        "positive": label.positive,
        "warnings": data.warnings,
    });
    output.result(&document, || {
        format!(
            "{} scored; {selected} selected ({}) as `{}` = `{}`",
            count(predictions.len(), "row"),
            rate(Some(selected as f64 / predictions.len() as f64)),
            label.column,
            label.positive
        )
    })
}

fn columns(predictions: &[Prediction]) -> [OutputColumn; 4] {
    let numbers =
        |of: fn(&Prediction) -> f64| ColumnValues::Numbers(predictions.iter().map(of).collect());
    let selected = predictions.iter().map(|prediction| i8::from(prediction.selected)).collect();
    [
        OutputColumn::new("row", ColumnValues::Counts((1..=predictions.len() as u64).collect())),
        OutputColumn::new("score", numbers(|prediction| prediction.score)),
        OutputColumn::new("probability", numbers(|prediction| prediction.probability)),
        OutputColumn::new("selected", ColumnValues::Codes(selected)),
    ]
}
