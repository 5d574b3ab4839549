//! The hidden command that a round server runs for each file it receives.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::store::Crash;
use equipoise_server::validator::run_child;

use crate::answer::Answer;
use crate::output::{Output, print};

/// The name under which the server starts it.
pub(crate) const NAME: &str = "validate-proxy";

/// The place of a crash test in which not the server is killed, but the process that reads a file.
pub(crate) const CRASH: &str = "in_validator";

/// Judge one file within limits of memory and time, and say so in one line of JSON
#[derive(Debug, Args)]
pub(crate) struct ValidateProxyArgs {
    file: PathBuf,
    canonical: PathBuf,
    schema: PathBuf,
    limits: String,
    #[arg(long)]
    crash: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ValidateProxyArgs, _: &Output) -> anyhow::Result<Answer> {
    if args.crash {
        Crash::parse(CRASH).at(CRASH);
    }
    let verdict = run_child(args.file.clone(), args.canonical.clone(), &args.schema, &args.limits);
    print(&serde_json::to_string(&verdict)?)?;
    Ok(Answer::Done)
}
