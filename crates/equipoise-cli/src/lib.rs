//! The `equipoise` command: parses the command line, runs one command, returns its exit code.
//!
//! It is a library so that the binary and the Python package are the same program: [`run`] is the whole program, and
//! [`call`] runs one command and returns its result instead of printing it.
//!
//! Exit codes: 0 success; 1 the command ran, but the answer is "no" (not fair, a requirement missed, not converged, not
//! verified);
//! 2 bad usage or input. A signal such as Ctrl-C ends the program as shells expect, with 128 plus its number: 130.

pub mod api;
mod choice_args;
mod cli;
mod commands;
mod delimiter_args;
mod failure;
mod fairness_args;
mod figures;
mod files;
mod formatting;
mod interruption;
mod invocation;
mod output;
mod progress;
mod round_client;
mod shell;
mod source_args;

use std::ffi::OsString;

use anyhow::Context;
use clap::Parser;
use equipoise_data::uninterrupted;
use serde_json::Value;

use crate::cli::Cli;
use crate::output::{Answer, Output};

pub use invocation::Invocation;

/// Runs the program and returns its exit code.
pub fn run(invocation: Invocation) -> u8 {
    let cli = match Cli::try_parse_from(invocation.command_line()) {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error, &invocation),
    };
    invocation::set(invocation);
    let output = Output::new(cli.global.json, cli.global.quiet);
    if cli.command.may_be_interrupted() {
        interruption::watch();
    }
    let answer = start_threads(cli.global.threads).and_then(|()| cli.command.run(&output));
    // If a signal has arrived, its thread ends the process, and an error that its cleanup caused is not reported.
    uninterrupted(|| ());
    match answer {
        Ok(Answer::Done) => 0,
        Ok(Answer::No) => 1,
        Err(error) => failure::report(&error, &output),
    }
}

/// The result of a command that was [called](call).
#[derive(Debug, Clone)]
pub struct Reply {
    /// The document that `--json` prints; null if there is none.
    pub document: Value,
    /// Whether the answer is "yes": exit code 0.
    pub yes: bool,
    /// The warnings.
    pub warnings: Vec<String>,
}

/// Runs a command, given without the program's name, and returns its result. Prints nothing. [`api::describe`] has the
/// message of an error.
pub fn call(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<Reply> {
    let arguments = [OsString::from("equipoise")].into_iter().chain(arguments);
    let cli = Cli::try_parse_from(arguments).map_err(|error| failure::usage_error(&error))?;
    let output = Output::captured();
    let answer = cli.command.run(&output)?;
    let (document, warnings) = output.take();
    Ok(Reply { document, yes: answer == Answer::Done, warnings })
}

/// Starts the thread pool with `n_threads` instead of one thread per core. The number does not affect results.
fn start_threads(n_threads: Option<usize>) -> anyhow::Result<()> {
    let Some(n_threads) = n_threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build_global()
        .with_context(|| format!("--threads {n_threads}: cannot start the threads"))
}
