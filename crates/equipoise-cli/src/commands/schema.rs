//! `equipoise schema`: the agreement on how rows are encoded.

mod column_args;
mod describe;
mod infer;
mod inference_args;
mod merge;
mod proposal;
mod show;

use clap::Subcommand;

pub(crate) use column_args::{names_of, parse_column, parse_pair};
pub(crate) use inference_args::InferenceArgs;

use crate::output::{Answer, Output};

/// Infer, agree on or show a schema
///
/// A schema names the label, the sensitive attribute and the features, and defines how each value becomes a number.
/// All clients and the coordinator must use the same schema. Compare the digests to make sure.
///
/// If one person holds all tables, run `infer`. Clients who may not share rows each run `describe`, and one of them runs `merge`
/// on the descriptions.
///
/// Each feature in the file has a `column` and a `kind`. A numeric one has `center` and `scale`, a categorical one `levels`.
/// `fill` replaces missing values: a number, or one of the levels. Without it, a row without a value is refused. Empty
/// cells, NA, N/A, NaN and null, in any case, and ? count as missing. `unknown = "other"` accepts values that are not levels
/// and encodes them as 0 in all columns of the feature; without it, they are refused. A missing label or sensitive value is
/// always refused, and so is a sensitive value of no group, unless the schema has a group for everyone else.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A \\
      -o schema.toml
  equipoise schema describe north.csv --label passed=1 --sensitive group=A \\
      -o north.description.json
  equipoise schema merge north.description.json south.description.json \\
      -o schema.toml
  equipoise schema show schema.toml")]
pub(crate) enum SchemaCommand {
    Infer(infer::InferArgs),
    Describe(describe::DescribeArgs),
    Merge(merge::MergeArgs),
    Show(show::ShowArgs),
}

pub(crate) fn run(command: &SchemaCommand, output: &Output) -> anyhow::Result<Answer> {
    match command {
        SchemaCommand::Infer(args) => infer::run(args, output),
        SchemaCommand::Describe(args) => describe::run(args, output),
        SchemaCommand::Merge(args) => merge::run(args, output),
        SchemaCommand::Show(args) => show::run(args, output),
    }
}
