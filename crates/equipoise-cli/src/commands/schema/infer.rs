//! `equipoise schema infer`: a draft schema from tables.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::infer_union;

use super::column_args::{names_of, parse_column, parse_pair};
use super::proposal::ProposalArgs;
use crate::delimiter_args::DelimiterArgs;
use crate::output::{Answer, Output};

/// Infer a schema from one or more tables
///
/// Columns of numbers become numeric and are centred and scaled, except columns of 0 and 1, which stay unchanged. All
/// other columns become categorical, as do columns with 3 to 12 distinct integers, which are usually codes. Several
/// tables are read as one; if they belong to clients who may not share rows, use `describe` and `merge` instead. Review,
/// edit and agree on the schema before anyone encodes data with it. Without -o, the schema is printed to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A \\
      --drop id -o schema.toml
  equipoise schema infer data.csv --label passed=1 --sensitive group=A \\
      --fill mean,mode --unknown other -o schema.toml")]
pub(crate) struct InferArgs {
    /// Tables of raw rows (.csv, .csv.gz or .parquet)
    #[arg(required = true)]
    data: Vec<PathBuf>,
    #[command(flatten)]
    delimiter: DelimiterArgs,
    /// Label column and its positive value
    ///
    /// The column's other value is the negative one, and tables with further values will be refused.
    #[arg(long, value_name = "COL=POSITIVE", value_parser = parse_pair)]
    label: (String, String),
    /// Sensitive column and the value of its reference group [default value: the most frequent]
    ///
    /// Every value of the column is a group. Give the option several times for groups by combinations of values, such as
    /// race and sex. Groups with fewer than 50 rows, or 1 % of all rows, are pooled.
    #[arg(long, value_name = "COL[=REFERENCE]", value_parser = parse_column, required = true)]
    sensitive: Vec<(String, Option<String>)>,
    #[command(flatten)]
    proposal: ProposalArgs,
}

pub(crate) fn run(args: &InferArgs, output: &Output) -> anyhow::Result<Answer> {
    args.proposal.check_output(&args.data)?;
    let options = args.proposal.options(args.label.clone(), args.sensitive.clone());
    let columns = names_of(&args.label.0, &args.sensitive);
    let tables = args.data.iter().map(|path| args.delimiter.open(path, &columns));
    let tables = tables.collect::<Result<_, _>>()?;
    args.proposal.present(&infer_union(tables, &options)?, output)
}
