//! The `equipoise` command: parses the command line, runs one command, returns its exit code.
//!
//! Exit codes: 0 success; 1 the command ran, but the answer is "no" (not fair, a requirement missed, not converged, not
//! verified);
//! 2 bad usage or input.

mod choice_args;
mod cli;
mod commands;
mod delimiter_args;
mod failure;
mod fairness_args;
mod figures;
mod files;
mod formatting;
mod output;
mod progress;
mod round_client;
mod shell;
mod source_args;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

use crate::cli::Cli;
use crate::output::{Answer, Output};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    match start_threads(cli.global.threads).and_then(|()| cli.command.run(&output)) {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) => failure::report(&error, &output),
    }
}

/// Starts the thread pool with `n_threads` instead of one thread per core. The number does not affect results.
fn start_threads(n_threads: Option<usize>) -> anyhow::Result<()> {
    let Some(n_threads) = n_threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build_global()
        .with_context(|| format!("--threads {n_threads}: cannot start the threads"))
}
