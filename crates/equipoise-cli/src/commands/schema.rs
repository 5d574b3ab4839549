//! `equipoise schema`: what all agree on before anyone encodes a row.

mod infer;
mod show;

use clap::Subcommand;

use crate::answer::Answer;
use crate::output::Output;

/// Propose or look at a schema, what all agree on beforehand
///
/// A schema names the label, the sensitive attribute and the features, and says how each value becomes a
/// number. All clients and the coordinator use the same one; its digest tells whether they do.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Example:
  equipoise schema infer data.csv --label passed=1 --sensitive group=A -o schema.toml
  equipoise schema show schema.toml")]
pub(crate) enum SchemaCommand {
    Infer(infer::InferArgs),
    Show(show::ShowArgs),
}

/// Runs the command.
pub(crate) fn run(command: &SchemaCommand, output: &Output) -> anyhow::Result<Answer> {
    match command {
        SchemaCommand::Infer(args) => infer::run(args, output),
        SchemaCommand::Show(args) => show::run(args, output),
    }
}
