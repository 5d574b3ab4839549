//! `equipoise predict`: scores raw rows.

mod unscored;

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use equipoise_data::{
    ColumnValues, Model, OutputColumn, Prediction, RowsToScore, TableKind, check_output,
    read_rows_to_score, write_table,
};
use serde_json::json;

use crate::commands::evaluate::log_odds;
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
/// `reason` says why, and the exit code is 1. A column `note` marks scores to be careful with: a missing value was
/// filled, a category counts as other, or a number is more than 10 standard deviations from the mean.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise predict outcome/model.json new.csv -o scores.csv
  equipoise predict outcome/model.json new.csv --keep id --keep name -o scores.csv")]
pub(crate) struct PredictArgs {
    /// The model (model.json)
    model: PathBuf,
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// Copy this column of the table to the scores; repeat the option for several
    #[arg(long, value_name = "COL")]
    keep: Vec<String>,
    /// Select rows whose predicted probability is above this
    #[arg(long, value_name = "P", default_value_t = 0.5, allow_negative_numbers = true)]
    threshold: f64,
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
    let log_odds = log_odds(args.threshold)?;
    check_kept(&args.keep)?;
    let keep: Vec<&str> = args.keep.iter().map(String::as_str).collect();
    let features: Vec<&str> = model.schema().features.iter().map(|f| f.column.as_str()).collect();
    let table = args.delimiter.open(&args.data, &features)?;
    let data = read_rows_to_score(table, model.schema(), &keep)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let mut predictions = model.predict(&data.rows)?;
    predictions.iter_mut().for_each(|prediction| prediction.selected = prediction.score > log_odds);
    write_table(&args.output, &columns(&predictions, &data, &keep), args.force)?;
    output.note(format!("wrote {}", args.output.display()));

    let (n_scored, n_unscored) = (predictions.len(), data.unscorable.len());
    let reasons = unscored::reasons(&data.unscorable);
    if n_unscored > 0 {
        output.warn(unscored::describe(n_unscored, n_scored + n_unscored, &reasons));
    }
    if !data.notes.is_empty() {
        let rows = count(data.notes.len(), "row");
        output.note(format!(
            "{rows} scored with filled, unknown or unusual values; the column `{NOTE}` says which"
        ));
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
        "with_notes": data.notes.len(),
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

/// The columns of the scores, beside those to be kept.
const COLUMNS: [&str; 4] = ["row", "score", "probability", "selected"];
const REASON: &str = "reason";
const NOTE: &str = "note";

/// Refuses columns that the scores already have, or that are named twice.
fn check_kept(keep: &[String]) -> anyhow::Result<()> {
    for (i, column) in keep.iter().enumerate() {
        let is_taken = COLUMNS.iter().chain([&REASON, &NOTE]).any(|taken| taken == column);
        ensure!(
            !is_taken,
            "--keep {column}: the scores have a column of that name. Rename it in the table"
        );
        ensure!(!keep[..i].contains(column), "--keep {column}: given twice");
    }
    Ok(())
}

/// One line per row of the data: the columns to be kept, then the scores. If some rows could not be scored, their cells
/// are empty, and a column says why; another has notes, if there are any.
fn columns(predictions: &[Prediction], data: &RowsToScore, keep: &[&str]) -> Vec<OutputColumn> {
    let n_rows = predictions.len() + data.unscorable.len();
    let mut scored = vec![true; n_rows];
    data.unscorable.iter().for_each(|row| scored[row.row as usize - 1] = false);
    let is_complete = data.unscorable.is_empty();
    let numbers = |of: fn(&Prediction) -> f64| {
        let values: Vec<f64> = predictions.iter().map(of).collect();
        match is_complete {
            true => ColumnValues::Numbers(values),
            false => ColumnValues::NumbersOrEmpty(with_gaps(values, &scored)),
        }
    };
    let selected: Vec<i8> = predictions.iter().map(|p| i8::from(p.selected)).collect();
    let selected = match is_complete {
        true => ColumnValues::Codes(selected),
        false => ColumnValues::CodesOrEmpty(with_gaps(selected, &scored)),
    };
    let row = ColumnValues::Counts((1..=n_rows as u64).collect());
    let [first, rest @ ..] = COLUMNS;
    let mut columns = vec![OutputColumn::new(first, row)];
    columns.extend(
        keep.iter()
            .zip(&data.kept)
            .map(|(name, texts)| OutputColumn::new(*name, ColumnValues::Texts(texts.clone()))),
    );
    let values = [numbers(|p| p.score), numbers(|p| p.probability), selected];
    columns.extend(rest.into_iter().zip(values).map(|(name, v)| OutputColumn::new(name, v)));
    let reasons = data.unscorable.iter().map(|row| (row.row, row.reason()));
    let notes = data.notes.iter().map(|note| (note.row, note.text.clone()));
    columns.extend(texts(REASON, n_rows, reasons));
    columns.extend(texts(NOTE, n_rows, notes));
    columns
}

/// A column with these texts of some rows, if there are any.
fn texts(
    name: &str,
    n_rows: usize,
    of_rows: impl Iterator<Item = (u64, String)>,
) -> Option<OutputColumn> {
    let mut texts = vec![String::new(); n_rows];
    let mut is_empty = true;
    for (row, text) in of_rows {
        texts[row as usize - 1] = text;
        is_empty = false;
    }
    (!is_empty).then(|| OutputColumn::new(name, ColumnValues::Texts(texts)))
}

/// The values of the rows that were scored, in order, and gaps elsewhere.
fn with_gaps<T>(values: Vec<T>, scored: &[bool]) -> Vec<Option<T>> {
    let mut values = values.into_iter();
    scored.iter().map(|&scored| if scored { values.next() } else { None }).collect()
}
