//! The blobs of a round file, read and written in pieces, and hashed whenever they are.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_data::{Digest, Hasher};
use rusqlite::{Connection, MAIN_DB, OptionalExtension as _};

use super::folder_of;
use crate::error::{Error, Result};
use crate::spool::{Spool, Spooled, each_piece};

/// Inserts a blob unless it is there. Its bytes are hashed again as they are written.
pub(super) fn insert(path: &Path, database: &Connection, body: &mut Spooled) -> Result<()> {
    use std::io::{Seek as _, SeekFrom};
    let failed = || Error::database(path);
    let length = i64::try_from(body.length).unwrap_or(i64::MAX);
    let query = "INSERT OR IGNORE INTO blob VALUES (?, zeroblob(?))";
    let is_new = database.execute(query, (body.sha256.to_string(), length)).map_err(failed())? == 1;
    if !is_new {
        return Ok(());
    }
    let row = database.last_insert_rowid();
    let mut blob = database.blob_open(MAIN_DB, "blob", "bytes", row, false).map_err(failed())?;
    let mut hasher = Hasher::default();
    body.file.seek(SeekFrom::Start(0)).map_err(Error::io(path))?;
    let mut at = 0;
    let write = |piece: &[u8]| {
        hasher.update(piece);
        blob.write_at(piece, at).map_err(Error::database(path))?;
        at += piece.len();
        Ok(())
    };
    each_piece(&mut body.file, write, Error::io(path))?;
    blob.close().map_err(failed())?;
    match hasher.finish() == body.sha256 {
        true => Ok(()),
        false => Err(Error::file(path, "a temporary file changed while it was stored. Try again")),
    }
}

/// Deletes the blobs that are not needed, and makes sure that all others are there.
pub(super) fn keep_only(
    path: &Path,
    database: &Connection,
    needed: &BTreeMap<Digest, u64>,
) -> Result<()> {
    let stored = all(path, database)?;
    let is_needed =
        |name: &String| name.parse().is_ok_and(|sha256: Digest| needed.contains_key(&sha256));
    for name in stored.iter().filter(|name| !is_needed(name)) {
        let delete = database.execute("DELETE FROM blob WHERE sha256 = ?", [name]);
        delete.map_err(Error::database(path))?;
    }
    match needed.keys().find(|sha256| !stored.contains(&sha256.to_string())) {
        None => Ok(()),
        Some(sha256) => Err(Error::file(
            path,
            format!("blob {sha256} did not come with the event that names it"),
        )),
    }
}

/// The digests that the blobs are stored under.
pub(super) fn all(path: &Path, database: &Connection) -> Result<Vec<String>> {
    let read = || -> rusqlite::Result<Vec<String>> {
        database.prepare("SELECT sha256 FROM blob")?.query_map([], |row| row.get(0))?.collect()
    };
    read().map_err(Error::database(path))
}

/// Length and digest of a blob's bytes, if it is there.
pub(super) fn hash(
    path: &Path,
    database: &Connection,
    sha256: Digest,
) -> Result<Option<(u64, Digest)>> {
    let (mut hasher, mut length) = (Hasher::default(), 0);
    let is_there = read(path, database, sha256, |piece| {
        hasher.update(piece);
        length += piece.len() as u64;
        Ok(())
    })?;
    Ok(is_there.then(|| (length, hasher.finish())))
}

/// Copies a blob into an anonymous file.
pub(super) fn copy_out(path: &Path, database: &Connection, sha256: Digest) -> Result<Spooled> {
    let mut spool = Spool::new(folder_of(path))?;
    let is_there = read(path, database, sha256, |piece| spool.write(piece))?;
    let copy = spool.finish()?;
    match is_there && copy.sha256 == sha256 {
        true => Ok(copy),
        false => Err(Error::damaged(path, format!("the bytes of blob {sha256} have changed"))),
    }
}

fn read(
    path: &Path,
    database: &Connection,
    sha256: Digest,
    use_piece: impl FnMut(&[u8]) -> Result<()>,
) -> Result<bool> {
    let failed = || Error::database(path);
    let query = "SELECT rowid FROM blob WHERE sha256 = ?";
    let row: Option<i64> = database
        .query_row(query, [sha256.to_string()], |row| row.get(0))
        .optional()
        .map_err(failed())?;
    let Some(row) = row else { return Ok(false) };
    let mut blob = database.blob_open(MAIN_DB, "blob", "bytes", row, true).map_err(failed())?;
    each_piece(&mut blob, use_piece, |error| Error::damaged(path, error))?;
    Ok(true)
}
