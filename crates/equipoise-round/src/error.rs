//! Everything that can go wrong with a round, in sentences that say what is wrong, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::log::Refusal;

/// An error. Those that the rules of the round cause are [`Refusal`]s.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The round's rules do not allow this.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file's content is wrong.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A round file is not what its events say.
    #[error("{}: the round file is damaged: {problem}. Restore it from a backup", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where, and in what way.
        problem: String,
    },
    /// Another process writes to the round file.
    #[error("{}: another process is using the round file. Try again", .0.display())]
    Busy(PathBuf),
    /// No room to store anything.
    #[error("{}: the disk is full. Nothing was stored: free some space and try again", .0.display())]
    DiskFull(PathBuf),
    /// The mailbox cannot be reached, refuses, or answers with something else than it should.
    #[error("{address}: {problem}")]
    Mailbox {
        /// Its address.
        address: String,
        /// What happened.
        problem: String,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A file with wrong content.
    pub fn file(file: &Path, problem: impl ToString) -> Self {
        Self::File { file: file.to_path_buf(), problem: problem.to_string() }
    }

    /// A damaged round file.
    pub(crate) fn damaged(file: &Path, problem: impl ToString) -> Self {
        Self::Damaged { file: file.to_path_buf(), problem: problem.to_string() }
    }

    /// For `map_err`: an operating system's error about this file.
    pub fn io(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull(file.to_path_buf())
            }
            _ => Self::Io { file: file.to_path_buf(), source },
        }
    }

    /// For `map_err`: an error of SQLite about this file.
    pub(crate) fn database(file: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull(file.to_path_buf()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy(file.to_path_buf())
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                Self::file(file, format!("cannot be used as a round file: {error}"))
            }
            _ => Self::damaged(file, error),
        }
    }
}

impl From<equipoise_data::Error> for Error {
    fn from(error: equipoise_data::Error) -> Self {
        use equipoise_data::Error as E;
        match error {
            E::Read { file, source } | E::Write { file, source } => Self::io(&file)(source),
            E::Exists(file) => Self::file(&file, "exists already. Choose another name"),
            other => Self::File { file: PathBuf::new(), problem: other.to_string() },
        }
    }
}
