//! The hidden command that the round server runs for each file it receives.

use clap::Args;
use equipoise_server::store::Crash;
use equipoise_server::validator::{run_child, run_self_test};

use crate::output::{Answer, Output, print};

/// Name of the subcommand.
pub(crate) const NAME: &str = "validate-proxy";

/// The crash point that kills this process instead of the server, for tests.
pub(crate) const CRASH: &str = "in_validator";

/// Validate a received file and print the verdict as one line of JSON
///
/// The server runs this command in a child process for each file it receives, and passes the job on the standard input. The
/// process opens its files, enters a sandbox and then reads the file.
#[derive(Debug, Args)]
pub(crate) struct ValidateProxyArgs {
    /// Also attempt what the sandbox forbids, and print its restrictions
    #[arg(long)]
    self_test: bool,
    /// Crash before reading the file (for tests)
    #[arg(long)]
    crash: bool,
}

pub(crate) fn run(args: &ValidateProxyArgs, _: &Output) -> anyhow::Result<Answer> {
    if args.self_test {
        print(&serde_json::to_string(&run_self_test())?)?;
        return Ok(Answer::Done);
    }
    if args.crash {
        Crash::parse(CRASH).at(CRASH);
    }
    print(&serde_json::to_string(&run_child())?)?;
    Ok(Answer::Done)
}
