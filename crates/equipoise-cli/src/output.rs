//! Where text goes: results to stdout, everything else to stderr.
//!
//! A reader that closes the pipe early, as `| head` does, is not an error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

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
#[derive(Debug)]
pub(crate) struct Output {
    /// Print one JSON document instead of text.
    pub(crate) json: bool,
    /// Print no notes and no progress.
    pub(crate) quiet: bool,
    /// Where the result and the warnings go instead, if a caller wants them.
    captured: Option<Mutex<(Value, Vec<String>)>>,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, captured: None }
    }

    /// Prints nothing and keeps the result and the warnings.
    pub(crate) fn captured() -> Self {
        Self { json: true, quiet: true, captured: Some(Mutex::default()) }
    }

    /// The result and the warnings that were kept.
    pub(crate) fn take(self) -> (Value, Vec<String>) {
        let kept = self.captured.unwrap_or_default();
        kept.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the result of a command: the document with `--json`, otherwise the text.
    pub(crate) fn result(
        &self,
        document: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<Answer> {
        if let Some(captured) = &self.captured {
            let document = serde_json::to_value(document)?;
            captured.lock().unwrap_or_else(PoisonError::into_inner).0 = document;
        } else if self.json {
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
        match &self.captured {
            Some(captured) => {
                let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
                captured.1.push(text.to_string());
            }
            None => print_to_stderr("warning", text),
        }
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
