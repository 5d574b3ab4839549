//! `equipoise schema infer`: a draft schema from a table.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{
    Digest, InferOptions, Schema, check_output, infer, open_table, write_atomically,
};
use serde::Serialize;

use super::show;
use crate::files::refuse_input_as_output;
use crate::output::{Answer, Output};

/// Infer a schema from a table
///
/// Columns of numbers become numeric and are centred and scaled, except columns of 0 and 1, which stay unchanged. All
/// other columns become categorical, as do columns with 3 to 12 distinct integers, which are usually codes. Review, edit and agree on the schema before anyone encodes data with it. Without
/// -o, the schema is printed to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A \\
      --drop id -o schema.toml")]
pub(crate) struct InferArgs {
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    /// Label column and its positive value
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair)]
    label: (String, String),
    /// Sensitive column and the value of its reference group [default value: the most frequent]
    ///
    /// Every value of the column is a group. Give the option several times for groups by combinations of values, such as
    /// race and sex. Groups with fewer than 50 rows, or 1 % of all rows, are pooled.
    #[arg(long, value_name = "COL[=REFERENCE]", value_parser = parse_sensitive, required = true)]
    sensitive: Vec<(String, Option<String>)>,
    /// Compare the reference group with everyone else, as two groups
    #[arg(long)]
    two_groups: bool,
    /// Keep the groups out of the features: the model and `predict` do not need them
    #[arg(long)]
    blind: bool,
    /// Columns to ignore
    #[arg(long, value_name = "COL", num_args = 1..)]
    drop: Vec<String>,
    /// Columns to treat as categorical even if they hold numbers
    #[arg(long, value_name = "COL", num_args = 1..)]
    categorical: Vec<String>,
    /// Columns to treat as numeric even if they hold only a few integers; text in them is an error
    #[arg(long, value_name = "COL", num_args = 1..)]
    numeric: Vec<String>,
    /// Fit the model without an intercept
    #[arg(long)]
    no_intercept: bool,
    /// File to write the schema to [default: stdout]
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

pub(crate) fn run(args: &InferArgs, output: &Output) -> anyhow::Result<Answer> {
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
        refuse_input_as_output(path, &[&args.data])?;
    }
    let options = InferOptions {
        label: args.label.clone(),
        sensitive: args.sensitive.clone(),
        two_groups: args.two_groups,
        blind: args.blind,
        drop: args.drop.clone(),
        intercept: !args.no_intercept,
        categorical: args.categorical.clone(),
        numeric: args.numeric.clone(),
        codes: true,
    };
    let inferred = infer(open_table(&args.data)?, &options)?;
    let toml = inferred.schema.to_toml();
    if let Some(path) = &args.output {
        write_atomically(path, args.force, |out| out.write_all(toml.as_bytes()))?;
        output.note(format!(
            "wrote {}; review it before agreeing on it with the other parties",
            path.display()
        ));
    }
    inferred.notes.iter().for_each(|note| output.note(note));

    let document = Document {
        path: args.output.as_ref(),
        digest: inferred.schema.digest(),
        schema: &inferred.schema,
        notes: &inferred.notes,
    };
    output.result(&document, || match &args.output {
        Some(_) => show::describe(&inferred.schema),
        None => toml.clone(),
    })
}

/// A column, or a column and a value.
pub(crate) fn parse_sensitive(text: &str) -> Result<(String, Option<String>), String> {
    if text.contains('=') {
        return parse_pair(text).map(|(column, value)| (column, Some(value)));
    }
    match text.trim() {
        "" => Err("must have the form COLUMN or COLUMN=VALUE, such as sex=male".to_string()),
        column => Ok((column.to_string(), None)),
    }
}

/// Splits at the first `=`.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() && !value.trim().is_empty() => {
            Ok((column.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("must have the form COLUMN=VALUE, such as passed=1".to_string()),
    }
}
