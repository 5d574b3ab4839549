//! A round file: one SQLite file with the events of the log and the blobs that they name.
//!
//! The events are the database and the audit trail: opening replays them and hashes every blob, and no state is
//! stored besides. One transaction per event. `DELETE` journal and `EXTRA` synchronisation make a commit durable
//! before a receipt is signed; no transaction waits for a peer.

mod blobs;
mod check;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use equipoise_data::Digest;
use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::document::Document;
use crate::error::{Error, Result};
use crate::invitation::Invitation;
use crate::key::PrivateKey;
use crate::log::{Log, Receipt, Refusal};
use crate::sealed::Submission;
use crate::spool::Spooled;

const EVENT: &str = "CREATE TABLE event (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT";
const BLOB: &str = "CREATE TABLE blob (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT";

/// How long a transaction waits for one of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// An open round file.
#[derive(Debug)]
pub struct RoundFile {
    path: PathBuf,
    database: Connection,
    log: Log,
}

impl RoundFile {
    /// Creates the file of a new round. It appears complete or not at all.
    pub fn create(path: &Path, invitation: &Invitation) -> Result<Self> {
        let folder = folder_of(path);
        let line = Log::first_line(invitation);
        let log = Log::begin(&line)?;
        let new = tempfile::NamedTempFile::new_in(folder).map_err(Error::io(path))?;
        let database = connect(new.path())?;
        let failed = || Error::database(path);
        database.execute_batch(&format!("BEGIN; {EVENT}; {BLOB};")).map_err(failed())?;
        database.execute("INSERT INTO event VALUES (1, ?)", [&line]).map_err(failed())?;
        database.execute_batch("COMMIT").map_err(failed())?;
        drop(database);
        persist(new, path)?;
        Ok(Self { path: path.to_path_buf(), database: connect(path)?, log })
    }

    /// Opens a round file and checks everything in it.
    pub fn open(path: &Path) -> Result<Self> {
        let found = fs::symlink_metadata(path).map_err(Error::io(path))?;
        if !found.is_file() {
            return Err(Error::file(path, "is not a regular file, so it is not a round"));
        }
        let mut database = connect(path)?;
        let log = check::check(path, &mut database)?;
        Ok(Self { path: path.to_path_buf(), database, log })
    }

    /// What the log says.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        folder_of(&self.path)
    }

    /// Accepts a file whose ciphertext has arrived, and returns the receipt. The same file again gets the same receipt.
    pub fn accept(
        &mut self,
        submission: &Submission,
        body: Spooled,
        received_at: Timestamp,
        writer: &PrivateKey,
    ) -> Result<Document> {
        if (body.length, body.sha256) != (submission.length, submission.sha256) {
            let (expected, found) = (submission.length, body.length);
            return Err(Refusal::OtherBody(expected, found).into());
        }
        self.append(submission.document.clone(), vec![body], received_at, writer)
    }

    /// Appends the event of a document, stores the bodies that it names, and returns the receipt. Nothing is
    /// acknowledged that is not on disk.
    pub fn append(
        &mut self,
        document: Document,
        mut bodies: Vec<Spooled>,
        now: Timestamp,
        writer: &PrivateKey,
    ) -> Result<Document> {
        let Self { path, database, log } = self;
        let transaction = begin(path, database)?;
        catch_up(path, &transaction, log)?;
        if let Some(seq) = log.seq_of(&document) {
            let line = read_line(path, &transaction, seq)?;
            return Ok(Receipt::sign(&line, &log.invitation, writer)?);
        }
        let line = log.next_line(document, now)?;
        let mut next = log.clone();
        next.apply(&line)?;
        if *next.writer_of(next.seq()) != writer.public() {
            return Err(Refusal::NotWriter.into());
        }
        store(path, &transaction, &next, &[&line], &mut bodies)?;
        transaction.commit().map_err(Error::database(path))?;
        *log = next;
        self.shrink();
        Ok(Receipt::sign(&line, &self.log.invitation, writer)?)
    }

    /// Appends lines that another copy of the round has, and the blobs that they name: all or nothing.
    pub fn extend(&mut self, lines: &[String], mut bodies: Vec<Spooled>) -> Result<()> {
        let Self { path, database, log } = self;
        let transaction = begin(path, database)?;
        catch_up(path, &transaction, log)?;
        let mut next = log.clone();
        for line in lines {
            next.apply(line)?;
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        store(path, &transaction, &next, &lines, &mut bodies)?;
        transaction.commit().map_err(Error::database(path))?;
        *log = next;
        self.shrink();
        Ok(())
    }

    /// The lines of the log, from this number on.
    pub fn lines(&self, from: u64) -> Result<Vec<String>> {
        (from..=self.log.seq()).map(|seq| read_line(&self.path, &self.database, seq)).collect()
    }

    /// The receipt of an event. The writer must be the event's.
    pub fn receipt(&self, seq: u64, writer: &PrivateKey) -> Result<Document> {
        if *self.log.writer_of(seq) != writer.public() {
            return Err(Refusal::NotWriter.into());
        }
        let line = read_line(&self.path, &self.database, seq)?;
        Ok(Receipt::sign(&line, &self.log.invitation, writer)?)
    }

    /// A copy of a blob, checked against its digest, in an anonymous file: no transaction is open when it is used.
    pub fn copy_out(&self, sha256: Digest) -> Result<Spooled> {
        blobs::copy_out(&self.path, &self.database, sha256)
    }

    /// Writes a copy of the round file, which others cannot read.
    pub fn backup(&self, target: &Path) -> Result<()> {
        let new = tempfile::NamedTempFile::new_in(folder_of(target)).map_err(Error::io(target))?;
        let name = new.path().to_string_lossy().into_owned();
        self.database.execute("VACUUM INTO ?", [name]).map_err(Error::database(target))?;
        persist(new, target)
    }

    /// Gives the room of purged files back.
    fn shrink(&self) {
        if self.log.is_purged {
            // The purge is committed and the pages are overwritten; a file that stays large does no harm.
            let _ = self.database.execute_batch("VACUUM");
        }
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags)?;
        database.busy_timeout(BUSY_TIMEOUT)?;
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        database.pragma_update(None, "trusted_schema", "OFF")?;
        database.pragma_update(None, "cell_size_check", "ON")?;
        database.pragma_update(None, "secure_delete", "ON")?;
        database.pragma_update(None, "journal_mode", "DELETE")?;
        database.pragma_update(None, "synchronous", "EXTRA")?;
        Ok(database)
    };
    open().map_err(Error::database(path))
}

fn begin<'a>(path: &Path, database: &'a mut Connection) -> Result<Transaction<'a>> {
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate);
    transaction.map_err(Error::database(path))
}

/// Applies the events that another process has appended since.
fn catch_up(path: &Path, database: &Connection, log: &mut Log) -> Result<()> {
    let query = "SELECT coalesce(max(seq), 0) FROM event";
    let last: i64 =
        database.query_row(query, [], |row| row.get(0)).map_err(Error::database(path))?;
    for seq in log.seq() + 1..=last.unsigned_abs() {
        let line = read_line(path, database, seq)?;
        log.apply(&line).map_err(|refusal| Error::damaged(path, refusal))?;
    }
    Ok(())
}

fn read_line(path: &Path, database: &Connection, seq: u64) -> Result<String> {
    let query = "SELECT line FROM event WHERE seq = ?";
    database.query_row(query, [seq.cast_signed()], |row| row.get(0)).map_err(Error::database(path))
}

/// Inserts the last lines of a log and exactly the blobs that it needs.
fn store(
    path: &Path,
    transaction: &Transaction<'_>,
    log: &Log,
    lines: &[&str],
    bodies: &mut [Spooled],
) -> Result<()> {
    let needed = log.blobs();
    for body in bodies.iter_mut().filter(|body| needed.contains_key(&body.sha256)) {
        blobs::insert(path, transaction, body)?;
    }
    let first = log.seq() + 1 - lines.len() as u64;
    for (seq, line) in (first..).zip(lines) {
        let insert =
            transaction.execute("INSERT INTO event VALUES (?, ?)", (seq.cast_signed(), line));
        insert.map_err(Error::database(path))?;
    }
    blobs::keep_only(path, transaction, &needed)
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives a complete file its name, which must be new.
pub(crate) fn persist(new: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    new.as_file().sync_all().map_err(Error::io(path))?;
    new.persist_noclobber(path).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::file(path, "exists already. Choose another name")
        }
        _ => Error::io(path)(error.error),
    })?;
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io(folder))
}
