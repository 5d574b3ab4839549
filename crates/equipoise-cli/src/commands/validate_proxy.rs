//! The hidden command that the round server runs for each file it receives.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::store::Crash;
use equipoise_server::validator::{run_child, run_self_test};

use crate::output::{Answer, Output, print};

/// ClientId of the subcommand.
pub(crate) const NAME: &str = "validate-proxy";

/// The crash point that kills this process instead of the server, for tests.
pub(crate) const CRASH: &str = "in_validator";

/// Validate a received file and print the verdict as one line of JSON
///
/// The server runs this command in a child process for each file it receives. The process opens its files, enters a
/// sandbox and then reads the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise validate-proxy upload.parquet canonical.parquet schema.toml SETTINGS")]
pub(crate) struct ValidateProxyArgs {
    /// Received file; its extension determines the format
    file: PathBuf,
    /// Canonical table to write if the file is valid
    canonical: PathBuf,
    /// Schema of the round
    schema: PathBuf,
    /// Limits of the round and of this process, as JSON
    settings: String,
    /// Also attempt what the sandbox forbids, and print its restrictions
    #[arg(long)]
    self_test: bool,
    /// Crash before reading the file (for tests)
    #[arg(long)]
    crash: bool,
}

pub(crate) fn run(args: &ValidateProxyArgs, _: &Output) -> anyhow::Result<Answer> {
    let ValidateProxyArgs { file, canonical, schema, settings, .. } = args;
    if args.self_test {
        let report = run_self_test(file, canonical, schema, settings);
        print(&serde_json::to_string(&report)?)?;
        return Ok(Answer::Done);
    }
    if args.crash {
        Crash::parse(CRASH).at(CRASH);
    }
    print(&serde_json::to_string(&run_child(file, canonical, schema, settings))?)?;
    Ok(Answer::Done)
}
