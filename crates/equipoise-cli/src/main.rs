//! The `equipoise` command: parses the command line, runs one command, returns its exit code.
//!
//! Exit codes: 0 success; 1 the command ran, but the answer is "no" (not fair, a requirement missed, not converged, not
//! verified);
//! 2 bad usage or input. A signal such as Ctrl-C ends the program as shells expect, with 128 plus its number: 130.

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
mod output;
mod progress;
mod round_client;
mod shell;
mod source_args;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use equipoise_data::uninterrupted;

use crate::cli::Cli;
use crate::output::{Answer, Output};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    if cli.command.may_be_interrupted() {
        interruption::watch();
    }
    let answer = start_threads(cli.global.threads).and_then(|()| cli.command.run(&output));
    // If a signal has arrived, its thread ends the process, and an error that its cleanup caused is not reported.
    uninterrupted(|| ());
    match answer {
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
