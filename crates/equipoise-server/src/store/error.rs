//! Errors of the store.

use std::path::PathBuf;

use crate::protocol::{LogError, Refusal};

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file or folder cannot be accessed.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] std::io::Error),
    /// Another process uses this data directory.
    #[error("{}: is in use by another process, such as a running server", .0.display())]
    Locked(PathBuf),
    /// Another process has been starting or setting up a round for too long.
    #[error(
        "{}: a server is still starting there, or another process is setting up a round. Wait for it and try again.",
        .0.display()
    )]
    SetupLocked(PathBuf),
    /// Other users could read a private key.
    #[error("{}: other users can read this private key. Restrict it with: chmod 600 {}", .0.display(), .0.display())]
    ReadableKey(PathBuf),
    /// A file or folder of another user.
    #[error(
        "{}: belongs to another user (uid {uid}). Run this command as that user, for example with sudo -u, or change the \
         owner of the data directory and everything in it with chown -R.",
        path.display()
    )]
    OtherOwner {
        /// The file or folder.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// A symbolic link in a data directory.
    #[error(
        "{}: is a symbolic link, and a data directory must not contain any. Replace it with what it points to, or mount \
         another disk there.",
        .0.display()
    )]
    SymbolicLink(PathBuf),
    /// A pipe, a socket or a device in a data directory.
    #[error("{}: is neither a file nor a folder. Remove it from the data directory.", .0.display())]
    SpecialFile(PathBuf),
    /// The disk is full.
    #[error("no space is left on the disk")]
    DiskFull,
    /// A database error.
    #[error("database error: {0}")]
    Database(rusqlite::Error),
    /// Stored data has changed. Nothing is served or solved.
    #[error(
        "{what} does not match what was recorded: {problem}. Restore the data directory from a backup."
    )]
    Damaged {
        /// What has changed.
        what: String,
        /// How it differs.
        problem: String,
    },
    /// An event would break a rule of the audit log.
    #[error("nothing was changed, because the audit log does not allow it: {0}")]
    Log(LogError),
    /// The round cannot be set up.
    #[error("{0}")]
    Round(String),
    /// A backup cannot be made or restored.
    #[error("{0}: {1}")]
    Backup(PathBuf, String),
    /// The inputs of a round cannot be exported.
    #[error("{0}: {1}")]
    Export(PathBuf, String),
    /// A table or schema is invalid.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, source) => {
                Self::damaged_database(source.to_string())
            }
            _ if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::damaged_database(error.to_string())
    }
}

impl StoreError {
    pub(super) fn damaged_database(problem: impl Into<String>) -> Self {
        Self::Damaged { what: "the database".into(), problem: problem.into() }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::File(path, source),
        }
    }
}
