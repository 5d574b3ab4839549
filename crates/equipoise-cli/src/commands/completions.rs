//! `equipoise completions`: what the shell needs to complete commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde::Serialize;

use crate::answer::Answer;
use crate::cli::Cli;
use crate::output::Output;

/// Print completions for a shell
///
/// Prints a script that lets the shell complete commands and options. Load it from the shell's start
/// file, or put it where the shell looks for completions.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  equipoise completions bash > ~/.local/share/bash-completion/completions/equipoise"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Serialize)]
struct Document<'a> {
    shell: String,
    script: &'a str,
}

/// Runs the command.
pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> anyhow::Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "equipoise", &mut script);
    let script = String::from_utf8(script)?;
    let document = Document { shell: args.shell.to_string(), script: &script };
    output.result(&document, || script.clone())?;
    Ok(Answer::Done)
}
