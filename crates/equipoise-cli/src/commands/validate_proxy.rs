//! The hidden command that the round server runs for each file it receives.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::store::Crash;
use equipoise_server::validator::run_child;

use crate::output::{Answer, Output, print};

/// Name of the subcommand.
pub(crate) const NAME: &str = "validate-proxy";

/// The crash point that kills this process instead of the server, for tests.
pub(crate) const CRASH: &str = "in_validator";

/// Validate a received file and print the verdict as one line of JSON
///
/// The server runs this command in a child process, with memory and time limits, for each file it receives.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise validate-proxy upload.parquet canonical.parquet schema.toml LIMITS")]
pub(crate) struct ValidateProxyArgs {
    /// Received file; its extension determines the format
    file: PathBuf,
    /// Canonical table to write if the file is valid
    canonical: PathBuf,
    /// Schema of the round
    schema: PathBuf,
    /// Limits of the round, as JSON
    limits: String,
    /// Crash before reading the file (for tests)
    #[arg(long)]
    crash: bool,
}

pub(crate) fn run(args: &ValidateProxyArgs, _: &Output) -> anyhow::Result<Answer> {
    if args.crash {
        Crash::parse(CRASH).at(CRASH);
    }
    let verdict = run_child(args.file.clone(), args.canonical.clone(), &args.schema, &args.limits);
    print(&serde_json::to_string(&verdict)?)?;
    Ok(Answer::Done)
}
