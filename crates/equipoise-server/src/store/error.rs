//! What can go wrong with what lasts.

use std::path::PathBuf;

use crate::protocol::{Name, Refusal};

/// Why the store did not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The answer to whoever asked is "no".
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file or folder.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process has the data directory.
    #[error("{}: is in use by another process", folder.display())]
    Locked {
        /// The data directory.
        folder: PathBuf,
    },
    /// No space is left.
    #[error("no space is left on the disk")]
    DiskFull,
    /// The database.
    #[error("the database: {0}")]
    Database(rusqlite::Error),
    /// What is stored is not what was stored: nothing is served or solved.
    #[error(
        "{what} does not match what was recorded: {problem}. Restore the data directory from a back-up."
    )]
    Damaged {
        /// What.
        what: String,
        /// How it differs.
        problem: String,
    },
    /// A name that is taken.
    #[error("there is already a round `{round}`")]
    RoundExists {
        /// The round.
        round: Name,
    },
    /// A round that cannot be set up like this.
    #[error("{0}")]
    Round(String),
    /// A table or schema.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged { what: "the database".into(), problem: error.to_string() }
    }
}

impl StoreError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull,
            _ => Self::File { path, source },
        }
    }
}
