//! Where text goes: results to stdout, everything else to stderr.
//!
//! A reader that closes the pipe early, as `| head` does, is not an error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use anyhow::Context;
use serde::Serialize;

/// The answer of a command that ran to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The command is done, or the answer is "yes".
    Done,
    /// The answer is "no": not fair, a requirement missed, not converged, not verified.
    No,
}

impl Answer {
    pub(crate) fn holds(yes: bool) -> Self {
        if yes { Self::Done } else { Self::No }
    }
}

/// The output options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Print one JSON document instead of text.
    pub(crate) json: bool,
    /// Print no notes and no progress.
    pub(crate) quiet: bool,
}

impl Output {
    /// Prints the result of a command: the document with `--json`, otherwise the text.
    pub(crate) fn result(
        &self,
        document: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<Answer> {
        if self.json {
            print_json(document)?
        } else {
            print(&text())?
        }
        Ok(Answer::Done)
    }

    /// Prints a note, unless `--quiet` is given.
    pub(crate) fn note(&self, text: impl Display) {
        if !self.quiet {
            print_to_stderr("note", text);
        }
    }

    pub(crate) fn warn(&self, text: impl Display) {
        print_to_stderr("warning", text);
    }
}

/// Prints one line to stderr. If stderr is closed, nobody is reading.
pub(crate) fn print_to_stderr(kind: &str, text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{kind}: {text}");
}

/// Prints an indented document to stdout.
pub(crate) fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(document).context("cannot write the result as JSON")?)
}

/// Prints text to stdout and ends it with a line break.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print the result")
        }
        _ => Ok(()),
    }
}
