//! `equipoise data`: the datasets that experiments run on.

mod fetch;
mod list;

use clap::Subcommand;

use crate::answer::Answer;
use crate::output::Output;

/// List or fetch the datasets that experiments run on
///
/// The paper's two datasets are public, but not ours to pass on: they are fetched from their home, and used
/// only if they are, to the bit, the files that our results were made with.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Example:
  equipoise data list
  equipoise data fetch all --to data
  equipoise experiment --data data -o results")]
pub(crate) enum DataCommand {
    List(list::ListArgs),
    Fetch(fetch::FetchArgs),
}

/// Runs the command.
pub(crate) fn run(command: &DataCommand, output: &Output) -> anyhow::Result<Answer> {
    match command {
        DataCommand::List(args) => list::run(args, output),
        DataCommand::Fetch(args) => fetch::run(args, output),
    }
}
