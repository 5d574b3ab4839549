//! Persistent state: a database of rounds, submissions and events, and folders of content-addressed files.
//!
//! A submission is accepted once its row is committed. Every file that the row refers to is on disk by then. Each
//! state transition of a round is one transaction that also appends the audit event.

mod acceptance;
mod backup;
mod cleanup;
mod crash;
mod database;
mod disk;
mod durability;
mod error;
mod events;
mod export;
mod folder;
mod layout;
mod new_round;
mod persist;
mod private;
mod publication_check;
mod query;
mod server_log;
mod staged_roots;
mod startup_check;
mod transitions;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::{Connection, TransactionBehavior};

use crate::clock::Clock;
use crate::protocol::{PrivateKey, RoundId, RoundSpec};

pub use crate::protocol::CloseReason;
pub use acceptance::Acceptance;
pub use backup::{Backup, BackupFile, back_up, restore};
pub use crash::Crash;
pub use disk::{Disk, RealDisk};
pub use error::StoreError;
pub use export::{ExportedFile, export_inputs};
pub use folder::{DataFolder, random_bytes};
pub(crate) use folder::{digest_of_file, remove_if_present};
pub use layout::make_private;
pub use new_round::NewRound;
pub(crate) use private::is_open_to_others;
pub use private::{create_private_folder, set_private_umask, write_private};
pub use query::RoundRow;

/// Called when the disk can no longer be trusted. Does not return.
pub type Fatal = fn(&str) -> !;

/// A data directory and its database. Within a process, there is one writer at a time; SQLite makes other processes wait.
pub struct Store {
    folder: DataFolder,
    connection: Mutex<Connection>,
    specs: RwLock<BTreeMap<RoundId, Arc<RoundSpec>>>,
    logs: events::LogStates,
    key: PrivateKey,
    parts: StoreParts,
}

/// The dependencies of a store.
pub struct StoreParts {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The crash point, in crash tests.
    pub crash: Crash,
    /// Called when the disk fails.
    pub fatal: Fatal,
}

impl Default for StoreParts {
    fn default() -> Self {
        Self {
            disk: Arc::new(RealDisk),
            clock: Arc::new(crate::clock::SystemClock),
            crash: Crash::default(),
            fatal: abort,
        }
    }
}

impl Store {
    /// Opens a data directory. Unless another process has done so, checks everything in it and removes what an earlier
    /// process left unfinished.
    pub fn open(folder: DataFolder, parts: StoreParts) -> Result<Self, StoreError> {
        let connection = database::open(&folder.database())?;
        let key = folder.server_key()?;
        let store = Self {
            folder,
            connection: Mutex::new(connection),
            specs: RwLock::default(),
            logs: events::LogStates::default(),
            key,
            parts,
        };
        match store.folder.is_joined() {
            true => store.check_server_key()?,
            false => {
                // No round may appear half-way through the checks.
                let _setup = store.folder.lock_setup()?;
                store.check_everything()?;
                store.remove_leftovers()?;
            }
        }
        Ok(store)
    }

    /// The data directory.
    pub fn folder(&self) -> &DataFolder {
        &self.folder
    }

    /// The disk.
    pub fn disk(&self) -> &dyn Disk {
        self.parts.disk.as_ref()
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        self.parts.clock.as_ref()
    }

    /// The key that signs receipts and statements.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The crash point, in crash tests.
    pub fn crash(&self) -> &Crash {
        &self.parts.crash
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction rolls it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in one transaction.
    fn transact<T>(
        &self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let result = (|| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            self.parts.crash.at("before_commit");
            transaction.commit()?;
            Ok(result)
        })();
        if let Err(StoreError::Database(error)) = &result
            && is_disk_failure(error)
        {
            (self.parts.fatal)(&format!("database error: {error}"));
        }
        result
    }
}

/// Whether the content of the disk is unknown after an error of the database. Without space for the shared memory, or
/// without memory, only the transaction fails.
fn is_disk_failure(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_NOMEM, SQLITE_IOERR_SHMSIZE};
    error.sqlite_error().is_some_and(|error| {
        error.code == rusqlite::ErrorCode::SystemIoFailure
            && ![SQLITE_IOERR_NOMEM, SQLITE_IOERR_SHMSIZE].contains(&error.extended_code)
    })
}

fn abort(what: &str) -> ! {
    tracing::error!(what, "the disk failed: aborting, because accepted data may not be durable");
    std::process::abort()
}
