//! What lasts: a database of rounds, submissions and events, and folders of files named by their digests.
//!
//! A submission is accepted when its row is committed, and only then; everything its row speaks of is on
//! the disk by that time. Each move of a round is one transaction that also appends the audit event.

mod acceptance;
mod backup;
mod crash;
mod database;
mod disk;
mod error;
mod events;
mod folder;
mod moves;
mod new_round;
mod query;
mod startup_check;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use rusqlite::{Connection, TransactionBehavior};

use crate::clock::Clock;
use crate::protocol::{Name, PrivateKey};
use crate::round::RoundSpec;

pub use acceptance::{Acceptance, Checked};
pub use backup::{BackUp, BackUpFile, back_up, restore};
pub use crash::Crash;
pub use disk::{Disk, RealDisk};
pub use error::StoreError;
pub(crate) use folder::remove_if_there;
pub use folder::{DataFolder, random_bytes, write_private};
pub use moves::CloseReason;
pub use new_round::NewRound;
pub use query::{RoundRow, StoredSubmission};

/// Called when the disk cannot be trusted any more; never comes back.
pub type Fatal = fn(&str) -> !;

/// The data directory, locked, and its database. There is one writer at a time.
pub struct Store {
    folder: DataFolder,
    connection: Mutex<Connection>,
    specs: RwLock<BTreeMap<Name, Arc<RoundSpec>>>,
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    key: PrivateKey,
    crash: Crash,
    fatal: Fatal,
}

/// What a store is opened with, beside its folder.
pub struct StoreParts {
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where to crash, in tests of crashes.
    pub crash: Crash,
    /// What to do when the disk fails.
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
    /// Opens a data directory, made if it is not there, and checks everything in it.
    pub fn open(folder: DataFolder, parts: StoreParts) -> Result<Self, StoreError> {
        let connection = database::open(&folder.database())?;
        let key = folder.server_key()?;
        let store = Self {
            folder,
            connection: Mutex::new(connection),
            specs: RwLock::default(),
            disk: parts.disk,
            clock: parts.clock,
            key,
            crash: parts.crash,
            fatal: parts.fatal,
        };
        store.check_everything()?;
        Ok(store)
    }

    /// The data directory.
    pub fn folder(&self) -> &DataFolder {
        &self.folder
    }

    /// The disk.
    pub fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    /// The time.
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    /// The key that signs receipts and statements.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// Where to crash, in tests of crashes.
    pub fn crash(&self) -> &Crash {
        &self.crash
    }

    /// Digest of a file.
    pub fn digest_of(&self, path: &std::path::Path) -> Result<crate::protocol::Digest, StoreError> {
        folder::digest_of_file(path)
    }

    /// The result of a sync. A failed one ends the process, whatever the reason: after it nobody knows what
    /// is on the disk.
    pub fn require_durable(
        &self,
        what: &str,
        result: std::io::Result<()>,
    ) -> Result<(), StoreError> {
        match result {
            Ok(()) => Ok(()),
            Err(error) => (self.fatal)(&format!("{what}: {error}")),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One transaction: all of it, or nothing.
    fn transact<T>(
        &self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let result = (|| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            self.crash.at("before_commit");
            transaction.commit()?;
            Ok(result)
        })();
        if let Err(StoreError::Database(error)) = &result
            && error.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure)
        {
            (self.fatal)(&format!("the database: {error}"));
        }
        result
    }
}

fn abort(what: &str) -> ! {
    tracing::error!(
        what,
        "the disk failed: aborting, so that nothing is promised that may not last"
    );
    std::process::abort()
}
