//! What is checked when a round file is opened: everything. SQLite's own checks do not see a flipped byte in a value.

use std::path::Path;

use equipoise_data::Digest;
use rusqlite::{Connection, TransactionBehavior};

use super::{BLOB, EVENT, blobs};
use crate::error::{Error, Result};
use crate::log::Log;

/// Checks the file's structure, its schema, the chain of its events and the digests of its blobs.
pub(super) fn check(path: &Path, database: &mut Connection) -> Result<Log> {
    let failed = || Error::database(path);
    // One transaction, so that another process cannot append in between.
    let transaction = database.transaction_with_behavior(TransactionBehavior::Deferred);
    let database = transaction.map_err(failed())?;
    let found: String =
        database.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed())?;
    if found != "ok" {
        return Err(Error::damaged(path, found));
    }
    if objects(&database).map_err(failed())? != [("blob", BLOB), ("event", EVENT)].map(own) {
        return Err(Error::damaged(path, "it has other tables than a round file"));
    }
    let log =
        Log::replay(&lines(path, &database)?).map_err(|problem| Error::damaged(path, problem))?;
    for (sha256, length) in log.blobs() {
        check_blob(path, &database, sha256, length)?;
    }
    match blobs::all(path, &database)?.into_iter().find(|name| !is_needed(name, &log)) {
        None => Ok(log),
        Some(name) => Err(Error::damaged(path, format!("no event names its blob {name}"))),
    }
}

fn own((name, sql): (&str, &str)) -> (String, String) {
    (name.to_owned(), sql.to_owned())
}

/// Name and definition of everything but the index that SQLite makes for the text key.
fn objects(database: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let query = "SELECT name, coalesce(sql, type) FROM sqlite_schema
                 WHERE name != 'sqlite_autoindex_blob_1' OR tbl_name != 'blob' OR sql IS NOT NULL ORDER BY name";
    database.prepare(query)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn lines(path: &Path, database: &Connection) -> Result<Vec<String>> {
    let read = || -> rusqlite::Result<Vec<(i64, String)>> {
        let mut query = database.prepare("SELECT seq, line FROM event ORDER BY seq")?;
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let rows = read().map_err(Error::database(path))?;
    match (1..).zip(&rows).find(|(n, (seq, _))| n != seq) {
        None => Ok(rows.into_iter().map(|(_, line)| line).collect()),
        Some((n, _)) => Err(Error::damaged(path, format!("event {n} is missing"))),
    }
}

fn check_blob(path: &Path, database: &Connection, sha256: Digest, length: u64) -> Result<()> {
    let found = blobs::hash(path, database, sha256)?;
    match found {
        None => Err(Error::damaged(path, format!("blob {sha256} is missing"))),
        Some(found) if found == (length, sha256) => Ok(()),
        Some(_) => Err(Error::damaged(path, format!("the bytes of blob {sha256} have changed"))),
    }
}

fn is_needed(name: &str, log: &Log) -> bool {
    name.parse().is_ok_and(|sha256: Digest| log.blobs().contains_key(&sha256))
}
