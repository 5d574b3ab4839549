//! `equipoise schema infer`: a first schema from a table.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{
    Digest, InferOptions, Schema, check_output, infer, open_table, write_atomically,
};
use serde::Serialize;

use super::show;
use crate::answer::Answer;
use crate::output::Output;
use crate::paths::refuse_input_as_output;

/// Propose a schema from a table
///
/// Columns of numbers become numeric, centred and scaled; a column of 0 and 1 stays as it is; other
/// columns become categorical. The proposal is meant to be read, corrected and agreed on before anyone
/// encodes a row. Without -o it goes to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A --drop id -o schema.toml")]
pub(crate) struct InferArgs {
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    /// Label column and the value that counts as positive
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair)]
    label: (String, String),
    /// Sensitive column and the value that counts as privileged
    #[arg(long, value_name = "COL=PRIVILEGED", value_parser = parse_pair)]
    sensitive: (String, String),
    /// Columns to leave out
    #[arg(long, value_name = "COL", num_args = 1..)]
    drop: Vec<String>,
    /// Columns that are categorical although they hold numbers
    #[arg(long, value_name = "COL", num_args = 1..)]
    categorical: Vec<String>,
    /// Columns that are numeric: text in them is an error
    #[arg(long, value_name = "COL", num_args = 1..)]
    numeric: Vec<String>,
    /// A model without a constant term
    #[arg(long)]
    no_intercept: bool,
    /// File to write the schema to
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    path: Option<&'a PathBuf>,
    digest: Digest,
    schema: &'a Schema,
    notes: &'a [String],
}

/// Runs the command.
pub(crate) fn run(args: &InferArgs, output: &Output) -> anyhow::Result<Answer> {
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
        refuse_input_as_output(path, &[&args.data])?;
    }
    let options = InferOptions {
        label: args.label.clone(),
        sensitive: args.sensitive.clone(),
        drop: args.drop.clone(),
        intercept: !args.no_intercept,
        categorical: args.categorical.clone(),
        numeric: args.numeric.clone(),
    };
    let inferred = infer(open_table(&args.data)?, &options)?;
    let toml = inferred.schema.to_toml();
    if let Some(path) = &args.output {
        write_atomically(path, args.force, |out| out.write_all(toml.as_bytes()))?;
        output.note(format!("wrote {}; read it before you agree on it", path.display()));
    }
    inferred.notes.iter().for_each(|note| output.note(note));

    let document = Document {
        path: args.output.as_ref(),
        digest: inferred.schema.digest(),
        schema: &inferred.schema,
        notes: &inferred.notes,
    };
    output.result(&document, || match &args.output {
        Some(_) => show::in_words(&inferred.schema),
        None => toml.clone(),
    })?;
    Ok(Answer::Done)
}

/// The first `=` parts column and value.
fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() && !value.trim().is_empty() => {
            Ok((column.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("a column, `=` and a value are needed, as in passed=1".to_string()),
    }
}
