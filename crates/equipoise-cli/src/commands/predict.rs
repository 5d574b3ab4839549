//! `equipoise predict`: scores raw rows.

mod unscored;

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{
    ColumnValues, Model, OutputColumn, Prediction, TableKind, UnscorableRow, check_output,
    read_rows_to_score, write_table,
};
use serde_json::json;

use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_input_as_output;
use crate::formatting::{count, rate};
use crate::output::{Answer, Output};

/// Score the rows of a table with a model
///
/// Writes a table with one line per row: the row number (from 1), the score, the probability of the positive label, and
/// whether the row is selected (1 or 0). The label column may be missing, and columns that are not in the schema are
/// ignored. A CSV output is always separated by commas.
///
/// If some rows cannot be scored, because a value is missing or unknown to the schema, their cells are empty, a column
/// `reason` says why, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  equipoise predict outcome/model.json new.csv -o scores.csv")]
pub(crate) struct PredictArgs {
    /// The model (model.json)
    model: PathBuf,
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
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
    let data = read_rows_to_score(args.delimiter.of(&args.data), model.schema())?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let predictions = model.predict(&data.rows)?;
    write_table(&args.output, &columns(&predictions, &data.unscorable), args.force)?;
    output.note(format!("wrote {}", args.output.display()));

    let (n_scored, n_unscored) = (predictions.len(), data.unscorable.len());
    let reasons = unscored::reasons(&data.unscorable);
    if n_unscored > 0 {
        output.warn(unscored::describe(n_unscored, n_scored + n_unscored, &reasons));
    }
    let selected = predictions.iter().filter(|prediction| prediction.selected).count();
    let label = &model.schema().label;
    let document = json!({
        "path": args.output,
        "rows": n_scored + n_unscored,
        "selected": selected,
        "positive": label.positive,
        "warnings": data.warnings,
        "unscored": n_unscored,
        "reasons": reasons,
    });
    output.result(&document, || {
        format!(
            "{} scored; {selected} selected ({}) as `{}` = `{}`",
            count(n_scored, "row"),
            rate((n_scored > 0).then_some(selected as f64 / n_scored as f64)),
            label.column,
            label.positive
        )
    })?;
    Ok(Answer::holds(n_unscored == 0))
}

/// One line per row of the data. If some rows could not be scored, their cells are empty, and the last column says why.
fn columns(predictions: &[Prediction], unscorable: &[UnscorableRow]) -> Vec<OutputColumn> {
    let n_rows = predictions.len() + unscorable.len();
    let row = OutputColumn::new("row", ColumnValues::Counts((1..=n_rows as u64).collect()));
    let [score, probability] = [|p: &Prediction| p.score, |p: &Prediction| p.probability]
        .map(|of| predictions.iter().map(of).collect::<Vec<f64>>());
    let selected: Vec<i8> = predictions.iter().map(|p| i8::from(p.selected)).collect();
    if unscorable.is_empty() {
        return vec![
            row,
            OutputColumn::new("score", ColumnValues::Numbers(score)),
            OutputColumn::new("probability", ColumnValues::Numbers(probability)),
            OutputColumn::new("selected", ColumnValues::Codes(selected)),
        ];
    }
    let mut reasons = vec![String::new(); n_rows];
    unscorable.iter().for_each(|row| reasons[row.row as usize - 1] = row.reason());
    let numbers = |values: Vec<f64>| ColumnValues::NumbersOrEmpty(with_gaps(values, &reasons));
    vec![
        row,
        OutputColumn::new("score", numbers(score)),
        OutputColumn::new("probability", numbers(probability)),
        OutputColumn::new("selected", ColumnValues::CodesOrEmpty(with_gaps(selected, &reasons))),
        OutputColumn::new("reason", ColumnValues::Texts(reasons)),
    ]
}

/// The values of the rows that have no reason to be empty, in order, and gaps elsewhere.
fn with_gaps<T>(values: Vec<T>, reasons: &[String]) -> Vec<Option<T>> {
    let mut values = values.into_iter();
    reasons.iter().map(|reason| if reason.is_empty() { values.next() } else { None }).collect()
}
