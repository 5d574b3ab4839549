//! The SQLite database.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::error::StoreError;
use super::private::create_if_missing;

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

/// How long a transaction waits for one of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// Opens the database, and creates its tables if it is new.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    // SQLite gives its other files the same permissions.
    create_if_missing(path)?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    if version(&connection)? == 0 {
        // Another process may do the same.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    match version(&connection)? {
        VERSION => Ok(connection),
        other => {
            let problem = format!("it has version {other}, but this program supports {VERSION}");
            Err(StoreError::damaged_database(problem))
        }
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Checks the file's structure, that it has exactly the expected tables, and that no row refers to a missing one.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let result: String =
        connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if result != "ok" {
        return Err(StoreError::damaged_database(result));
    }
    let new = Connection::open_in_memory()?;
    new.execute_batch(TABLES)?;
    if objects(connection)? != objects(&new)? {
        // A trigger, for example, could change rows later.
        let problem = "its tables, indexes or triggers are not those of this program";
        return Err(StoreError::damaged_database(problem));
    }
    let mut query = connection.prepare("PRAGMA foreign_key_check")?;
    let table: Option<String> = query.query_row([], |row| row.get(0)).optional()?;
    match table {
        None => Ok(()),
        Some(table) => Err(StoreError::damaged_database(format!(
            "a row of table `{table}` belongs to no round or client"
        ))),
    }
}

/// Type, name and definition of everything in a database.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut query =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")?;
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    found.collect()
}
