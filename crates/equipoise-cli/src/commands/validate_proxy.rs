//! The hidden command that a round server runs for each file it receives.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::validator::run_child;

use crate::answer::Answer;
use crate::output::{Output, print};

/// The name under which the server starts it.
pub(crate) const NAME: &str = "validate-proxy";

/// Judge one file within limits of memory and time, and say so in one line of JSON
#[derive(Debug, Args)]
pub(crate) struct ValidateProxyArgs {
    file: PathBuf,
    canonical: PathBuf,
    schema: PathBuf,
    limits: String,
}

/// Runs the command.
pub(crate) fn run(args: &ValidateProxyArgs, _: &Output) -> anyhow::Result<Answer> {
    let verdict = run_child(args.file.clone(), args.canonical.clone(), &args.schema, &args.limits);
    print(&serde_json::to_string(&verdict)?)?;
    Ok(Answer::Done)
}
