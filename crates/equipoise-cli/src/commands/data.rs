//! `equipoise data`: the datasets of the experiments.

mod fetch;
mod list;

use clap::Subcommand;

use crate::output::{Answer, Output};

/// List or download the datasets used by `equipoise experiment`
///
/// The paper's two datasets are public, but not ours to redistribute. They are downloaded from their public source and
/// used only if they match, by SHA-256 digest, the files that the published results were computed from.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  equipoise data list
  equipoise data fetch all --to data
  equipoise experiment --data data -o results")]
pub(crate) enum DataCommand {
    List(list::ListArgs),
    Fetch(fetch::FetchArgs),
}

pub(crate) fn run(command: &DataCommand, output: &Output) -> anyhow::Result<Answer> {
    match command {
        DataCommand::List(args) => list::run(args, output),
        DataCommand::Fetch(args) => fetch::run(args, output),
    }
}
