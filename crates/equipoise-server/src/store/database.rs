//! The SQLite database.

use std::path::Path;

use rusqlite::Connection;

use super::error::StoreError;

/// Incremented with every change of the tables.
const VERSION: i64 = 2;

const TABLES: &str = "
CREATE TABLE round (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    spec TEXT NOT NULL,
    token_sha256 TEXT NOT NULL,
    reason TEXT,
    submissions TEXT
) STRICT;
CREATE TABLE client (
    round TEXT NOT NULL REFERENCES round(id),
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,
    revoked_at TEXT,
    PRIMARY KEY (round, name)
) STRICT;
CREATE TABLE submission (
    round TEXT NOT NULL,
    client TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    canonical_sha256 TEXT NOT NULL,
    rows INTEGER NOT NULL,
    distinct_rows INTEGER NOT NULL,
    manifest TEXT NOT NULL,
    signature TEXT NOT NULL,
    receipt TEXT NOT NULL,
    PRIMARY KEY (round, client),
    FOREIGN KEY (round, client) REFERENCES client(round, name)
) STRICT;
CREATE TABLE event (
    round TEXT NOT NULL REFERENCES round(id),
    seq INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (round, seq)
) STRICT;
CREATE TABLE server_log (
    n INTEGER PRIMARY KEY,
    round TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    head TEXT NOT NULL,
    UNIQUE (round, seq),
    FOREIGN KEY (round, seq) REFERENCES event(round, seq)
) STRICT;
CREATE TABLE artefact (
    round TEXT NOT NULL REFERENCES round(id),
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (round, name)
) STRICT;
";

pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match version {
        0 => {
            let transaction = connection.transaction()?;
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        }
        VERSION => {}
        other => {
            let problem = format!("it has version {other}, but this program supports {VERSION}");
            return Err(StoreError::damaged_database(problem));
        }
    }
    let result: String =
        connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    match result.as_str() {
        "ok" => Ok(connection),
        _ => Err(StoreError::damaged_database(result)),
    }
}
