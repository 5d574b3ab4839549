//! The `equipoise` command: parses what was typed, runs one command, turns its answer into an exit code.
//!
//! Exit codes: 0 done; 1 ran, but the answer is "no" (not fair, not converged); 2 bad usage or input.

mod answer;
mod choice_args;
mod cli;
mod commands;
mod failure;
mod fairness_args;
mod figures;
mod output;
mod paths;
mod progress;
mod round_client;
mod shell;
mod threads;

use std::process::ExitCode;

use clap::Parser;

use crate::answer::Answer;
use crate::cli::Cli;
use crate::output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let output = Output { json: cli.global.json, quiet: cli.global.quiet };
    let answer = threads::start(cli.global.threads).and_then(|()| cli.command.run(&output));
    match answer {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) => failure::report(&error, &output),
    }
}
