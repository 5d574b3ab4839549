//! Verifying a published folder, with nothing but the coordinator's fingerprint.
//!
//! The *chain* is checked here: the log is a possible history of its invitation, every signature holds, and the
//! statement binds every file. The *consequences* (what is published follows from invitation and log) and the *solve*
//! (solving the opened tables again gives the same result: see [`read_opened`](crate::read_opened)) need the solver,
//! so the caller checks them on what [`verify`] returns.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use equipoise_data::Digest;

use crate::document::Document;
use crate::error::{Error, Result};
use crate::key::Fingerprint;
use crate::log::{LOG_FILE, Log, Refusal, STATEMENT_FILE, Stage};
use crate::opening::open_regular;
use crate::publish::{INVITATION_FILE, MAX_PUBLISHED, files_in};

/// The published files: name and bytes.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A folder whose chain holds.
#[derive(Debug)]
pub struct Verified {
    /// What the log says.
    pub log: Log,
    /// The published files, without log and statement.
    pub files: Files,
    /// Whether the coordinator has signed the statement. Before that, only the log is checked, not the files.
    pub is_signed: bool,
}

/// Checks the chain of a folder, and that the log has the events of these receipts.
pub fn verify(folder: &Path, coordinator: &Fingerprint, receipts: &[PathBuf]) -> Result<Verified> {
    let mut files: Files = BTreeMap::new();
    let mut left = 2 * MAX_PUBLISHED;
    for (name, path) in files_in(folder)? {
        let mut bytes = Vec::new();
        open_regular(&path)?.take(left).read_to_end(&mut bytes).map_err(Error::io(&path))?;
        left -= bytes.len() as u64;
        files.insert(name, bytes);
    }
    let wrong =
        |name: &str, problem: &dyn ToString| Error::file(&folder.join(name), problem.to_string());
    let mut take = |name: &str| {
        let text = files.remove(name).map(String::from_utf8);
        let text = text.ok_or_else(|| wrong(name, &"is missing"))?;
        text.map_err(|_| wrong(name, &"is not UTF-8 text"))
    };
    let text = take(LOG_FILE)?;
    let lines = text.strip_suffix('\n').ok_or_else(|| wrong(LOG_FILE, &"is cut off"))?;
    let lines: Vec<&str> = lines.split('\n').collect();
    let log = Log::replay(&lines).map_err(|problem| wrong(LOG_FILE, &problem))?;
    log.invitation.check_coordinator(coordinator)?;
    let statement = log.statement.as_ref().map(|(document, _)| document.to_string());
    if let Some(statement) = &statement
        && take(STATEMENT_FILE)? != *statement
    {
        return Err(wrong(STATEMENT_FILE, &"is not the one in the log"));
    }
    match files.get(INVITATION_FILE) {
        Some(found) if *found == log.invitation.document.to_string().as_bytes() => {}
        _ => return Err(wrong(INVITATION_FILE, &"is missing, or not the one in the log")),
    }
    check_files(folder, &log, &files)?;
    for receipt in receipts {
        check_receipt(receipt, &log)?;
    }
    Ok(Verified { log, files, is_signed: statement.is_some() })
}

/// Checks the files against the statement, in both directions.
fn check_files(folder: &Path, log: &Log, files: &Files) -> Result<()> {
    let wrong = |name: &str, problem: &str| Err(Error::file(&folder.join(name), problem));
    if log.stage == Stage::Aborted {
        return wrong(LOG_FILE, "says that the round was aborted, so it has no result");
    }
    let Some((_, statement)) = &log.statement else {
        return match files.contains_key(STATEMENT_FILE) {
            true => wrong(STATEMENT_FILE, "is not in the log"),
            false => Ok(()),
        };
    };
    for (name, expected) in &statement.files {
        match files.get(name) {
            None => return wrong(name, "is missing"),
            Some(bytes) if Digest::of(bytes) != expected.sha256 => {
                return wrong(name, "is not the file that the coordinator signed");
            }
            Some(_) => {}
        }
    }
    match files.keys().find(|name| !statement.files.contains_key(*name)) {
        Some(name) => wrong(name, "is not in the statement. Remove it"),
        None => Ok(()),
    }
}

fn check_receipt(file: &Path, log: &Log) -> Result<()> {
    let text = std::fs::read_to_string(file).map_err(Error::io(file))?;
    let receipt: Document = text.parse().map_err(|problem| Error::file(file, problem))?;
    let check = log.check_receipt(&receipt);
    check.map(|_| ()).map_err(|refusal| match refusal {
        Refusal::Receipt(problem) => {
            let blame = "Its signature is genuine, so whoever wrote the log has left out or changed what was promised";
            Error::file(file, format!("{problem}. {blame}"))
        }
        other => Error::file(file, other),
    })
}
