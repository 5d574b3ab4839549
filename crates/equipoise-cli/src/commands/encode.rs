//! `equipoise encode`: raw rows as numbers, without making them fair or private.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_core::Warning;
use equipoise_data::{Digest, Purpose, Schema, TableKind, check_output, read_rows, write_proxy_of};
use serde::Serialize;

use crate::commands::proxy::origin;
use crate::delimiter_args::DelimiterArgs;
use crate::files::refuse_input_as_output;
use crate::formatting::count;
use crate::output::{Answer, Output};

/// What everyone must know who handles such a file.
const NOT_PRIVATE: &str = "the file contains the rows themselves, only written as numbers: it is neither fair nor private. \
                           Use `equipoise proxy` for a file to submit";

/// Encode raw rows as numbers, without making them fair or private
///
/// Writes one line per row: the encoded features, the number of the group and the label as -1 or 1. This is what a client
/// without fairness would send, and what other programs need to work on the same numbers. `check`, `defend` and `submit`
/// accept the file as a proxy, but it is a copy of the data: do not submit it in a real round.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise encode north.csv --schema schema.toml -o encoded.parquet")]
pub(crate) struct EncodeArgs {
    /// Table of raw rows (.csv, .csv.gz or .parquet)
    data: PathBuf,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// The schema that defines the encoding
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// Table to write the encoded rows to (.csv, .csv.gz or .parquet)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    rows: usize,
    columns: Vec<String>,
    schema_digest: Digest,
    warnings: &'a [Warning],
}

pub(crate) fn run(args: &EncodeArgs, output: &Output) -> anyhow::Result<Answer> {
    TableKind::of(&args.output)?;
    check_output(&args.output, args.force)?;
    refuse_input_as_output(&args.output, &[&args.data, &args.schema])?;
    let schema = Schema::read(&args.schema)?;
    let data = read_rows(args.delimiter.of(&args.data), &schema, Purpose::Data)?;
    data.warnings.iter().for_each(|warning| output.warn(warning));
    let origin = origin::at(&args.output, &schema, None);
    write_proxy_of(&args.output, &data.rows, &schema, &origin, args.force)?;
    output.note(format!("wrote {}", args.output.display()));
    output.warn(NOT_PRIVATE);

    let mut columns = schema.encoded_names();
    columns.extend([schema.sensitive.column_name(), schema.label.column.clone()]);
    let document = Document {
        path: &args.output,
        rows: data.rows.len(),
        columns,
        schema_digest: schema.digest(),
        warnings: &data.warnings,
    };
    output.result(&document, || {
        format!(
            "{} of {} under schema {}\n",
            count(document.rows, "encoded row"),
            count(document.columns.len(), "column"),
            document.schema_digest
        )
    })
}
