//! `equipoise completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;
use crate::output::{Answer, Output};

/// Print a completion script for a shell
///
/// The script lets the shell complete commands and options. Source it in the shell's startup file, or save it where
/// the shell looks for completions.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise completions bash \\
      > ~/.local/share/bash-completion/completions/equipoise")]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> anyhow::Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "equipoise", &mut script);
    let script = String::from_utf8(script)?;
    output.result(&json!({ "shell": args.shell.to_string(), "script": script }), || script.clone())
}
