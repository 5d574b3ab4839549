//! `equipoise round`: the coordinator sets up a round and looks after its data.

mod backup;
mod export;
mod limits;
mod manage;
mod new;

use clap::Subcommand;
use equipoise_server::store::set_private_umask;

use crate::output::{Answer, Output};

const EXAMPLE: &str = "\
Example:
  equipoise round new spring --data data \\
      --audience https://round.example.org:8443 --schema schema.toml \\
      --client north=north.pub --client south=south.pub --trusted trusted.csv \\
      --fairness sp --minimum 2 --deadline 2027-03-01T12:00:00Z";

/// Set up and manage rounds
///
/// `new`, `export`, `backup` and `restore` work on the server's data directory, also while the server runs; `open` and `revoke`
/// talk to a running server.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLE)]
pub(crate) enum RoundCommand {
    New(Box<new::NewArgs>),
    Open(manage::OpenArgs),
    Revoke(manage::RevokeArgs),
    Export(export::ExportArgs),
    Backup(backup::BackupArgs),
    Restore(backup::RestoreArgs),
}

pub(crate) fn run(command: &RoundCommand, output: &Output) -> anyhow::Result<Answer> {
    set_private_umask();
    match command {
        RoundCommand::New(args) => new::run(args, output),
        RoundCommand::Open(args) => manage::open(args, output),
        RoundCommand::Revoke(args) => manage::revoke(args, output),
        RoundCommand::Export(args) => export::run(args, output),
        RoundCommand::Backup(args) => backup::backup(args, output),
        RoundCommand::Restore(args) => backup::restore(args, output),
    }
}
