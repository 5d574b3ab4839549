//! Where text goes: results to stdout, everything else to stderr.
//!
//! A reader who closed the pipe early (`| head`) has seen enough: that is not an error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use anyhow::Context;
use serde::Serialize;

/// How the user wants to be told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// One JSON document instead of tables.
    pub(crate) json: bool,
    /// No notes, no progress.
    pub(crate) quiet: bool,
}

impl Output {
    /// The result of a command: the document with `--json`, the text without.
    pub(crate) fn result(
        &self,
        document: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if self.json { print_json(document) } else { print(&text()) }
    }

    /// Something that is nice to know.
    pub(crate) fn note(&self, text: impl Display) {
        if !self.quiet {
            say("note", text);
        }
    }

    /// Something that deserves a look.
    pub(crate) fn warn(&self, text: impl Display) {
        say("warning", text);
    }
}

/// One line on stderr. If stderr is closed, there is nobody to tell.
pub(crate) fn say(kind: &str, text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{kind}: {text}");
}

/// An indented document on stdout.
pub(crate) fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(document).context("the result is not plain data")?;
    print(&text)
}

/// Text on stdout, with a line break behind it if it has none.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(out, "{text}{end}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("the result could not be printed")
        }
        _ => Ok(()),
    }
}
