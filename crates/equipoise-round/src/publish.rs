//! Publishing a folder: the coordinator's statement binds every file in it to the log.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use equipoise_data::write_atomically;
use jiff::Timestamp;

use crate::document::{Document, Kind};
use crate::error::{Error, Result};
use crate::key::PrivateKey;
use crate::log::{LOG_FILE, STATEMENT_FILE};
use crate::opening::open_regular;
use crate::order::{FileDigest, Statement};
use crate::spool::Spool;
use crate::store::RoundFile;

/// The invitation in a published folder.
pub(crate) const INVITATION_FILE: &str = "invitation";

/// Bytes that a round publishes at most.
pub(crate) const MAX_PUBLISHED: u64 = 256 << 20;

/// Writes invitation and log to a folder that is to be published, so that someone else can check it before it is
/// signed.
pub fn prepare(round: &RoundFile, folder: &Path) -> Result<()> {
    let log: String = round.lines(1)?.iter().map(|line| format!("{line}\n")).collect();
    write(&folder.join(INVITATION_FILE), &round.log().invitation.document.to_string())?;
    write(&folder.join(LOG_FILE), &log)
}

/// Signs the statement over all files in a folder, records it with them in the round, and adds statement and log to the
/// folder. `closed` is the writer's receipt of the event that closed the round. If it was interrupted, it resumes.
pub fn publish(
    round: &mut RoundFile,
    folder: &Path,
    closed: Document,
    coordinator: &PrivateKey,
    now: Timestamp,
) -> Result<()> {
    prepare(round, folder)?;
    if round.log().statement.is_none() {
        let (mut files, mut bodies, mut left) = (BTreeMap::new(), Vec::new(), MAX_PUBLISHED);
        for (name, file) in files_in(folder)? {
            if [LOG_FILE, STATEMENT_FILE].contains(&name.as_str()) {
                continue;
            }
            let body = Spool::fill(round.folder(), &mut open_regular(&file)?, left)?;
            let too_large =
                || Error::file(folder, "is larger than 256 MiB, so it is not published");
            left = left.checked_sub(body.length).ok_or_else(too_large)?;
            files.insert(name, FileDigest { length: body.length, sha256: body.sha256 });
            bodies.push(body);
        }
        let log = round.log();
        let (head, submissions) = (log.head(), log.sealed_digests());
        let statement = Statement { head, closed, files, submissions };
        let statement =
            Document::sign(Kind::Statement, log.invitation.digest, &statement, coordinator);
        round.append(statement, bodies, now, coordinator)?;
    }
    if let Some((statement, _)) = &round.log().statement {
        write(&folder.join(STATEMENT_FILE), &statement.to_string())?;
    }
    prepare(round, folder)
}

/// The files in a folder, by name. Anything else in it is an error.
pub(crate) fn files_in(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let entry = entry.map_err(Error::io(folder))?;
        if !entry.file_type().map_err(Error::io(folder))?.is_file() {
            return Err(Error::file(&entry.path(), "is not a regular file. Remove it"));
        }
        files.insert(entry.file_name().to_string_lossy().into_owned(), entry.path());
    }
    Ok(files)
}

fn write(file: &Path, text: &str) -> Result<()> {
    Ok(write_atomically(file, true, |out| out.write_all(text.as_bytes()))?)
}
