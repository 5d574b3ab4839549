//! `outcome.json`: reads, checks and writes an [`Outcome`].

mod check;

use std::path::Path;

use equipoise_core::Outcome;

use crate::error::Error;
use crate::stamp::Stamp;

/// Checks that the parts of an outcome agree with each other.
pub fn check(outcome: &Outcome) -> Result<(), Error> {
    check::check(outcome).map_err(|problem| Error::Invalid(format!("the outcome: {problem}")))
}

/// Reads and checks an outcome file.
pub fn read(path: &Path) -> Result<Outcome, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
    from_json(&text, path)
}

/// Parses and checks an outcome. Errors name `file`.
pub fn from_json(text: &str, file: &Path) -> Result<Outcome, Error> {
    let syntax = |error| Error::in_document(file, format!("is not an outcome: {error}"));
    let invalid = |problem| Error::in_document(file, problem);
    let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
    stamp.check(("an", "outcome"), Outcome::FORMAT, Outcome::VERSION).map_err(invalid)?;
    let outcome: Outcome = serde_json::from_str(text).map_err(syntax)?;
    check::check(&outcome).map_err(invalid)?;
    Ok(outcome)
}

/// The file's content. Parsing it gives an equal value.
pub fn to_json(outcome: &Outcome) -> String {
    // Strings, finite numbers and lists of them always serialise.
    let mut text = serde_json::to_string_pretty(outcome).expect("an outcome is plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
