//! `equipoise schema`: the agreement on how rows are encoded.

mod infer;
mod show;

use clap::Subcommand;

pub(crate) use infer::{parse_pair, parse_sensitive};

use crate::output::{Answer, Output};

/// Infer or show a schema
///
/// A schema names the label, the sensitive attribute and the features, and defines how each value becomes a number.
/// All clients and the coordinator must use the same schema. Compare the digests to make sure.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A \\
      -o schema.toml
  equipoise schema show schema.toml")]
pub(crate) enum SchemaCommand {
    Infer(infer::InferArgs),
    Show(show::ShowArgs),
}

pub(crate) fn run(command: &SchemaCommand, output: &Output) -> anyhow::Result<Answer> {
    match command {
        SchemaCommand::Infer(args) => infer::run(args, output),
        SchemaCommand::Show(args) => show::run(args, output),
    }
}
