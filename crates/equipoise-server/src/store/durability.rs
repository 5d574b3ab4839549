//! What happens when a file cannot be made durable: a failing disk ends the process, anything else ends one operation.

use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::io::Errno;

use super::private::open_regular;
use super::{Store, StoreError};

impl Store {
    /// Makes a file's content durable.
    pub fn sync_file(&self, what: &str, path: &Path) -> Result<(), StoreError> {
        let file = open_regular(path);
        let synced = file.and_then(|file| self.parts.disk.sync_file(path, &file));
        self.require_durable(what, path, synced)
    }

    /// Makes the names in a folder durable.
    pub fn sync_folder(&self, what: &str, folder: &Path) -> Result<(), StoreError> {
        self.require_durable(what, folder, self.parts.disk.sync_folder(folder))
    }

    /// Ends the process if the disk failed, because its content is unknown after that. Any other failure, such as a
    /// missing file or a full disk, concerns one operation and is returned as its error.
    pub fn require_durable(
        &self,
        what: &str,
        path: &Path,
        synced: io::Result<()>,
    ) -> Result<(), StoreError> {
        let Err(error) = synced else { return Ok(()) };
        if is_disk_failure(&error) {
            (self.parts.fatal)(&format!("{what}: {}: {error}", path.display()));
        }
        Err(StoreError::file(path)(error))
    }
}

/// Whether the disk itself failed. An unknown error counts as a failure.
fn is_disk_failure(error: &io::Error) -> bool {
    let is_about_the_name = matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
    );
    // A sync that finds the disk full loses only this file's data.
    let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    // The limits of this process and of the system.
    let is_about_limits = matches!(
        Errno::from_io_error(error),
        Some(Errno::LOOP | Errno::MFILE | Errno::NFILE | Errno::NOMEM)
    );
    !(is_about_the_name || is_full || is_about_limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_disk_are_disk_failures() {
        let failure = |errno: Errno| is_disk_failure(&errno.into());
        for disk in [Errno::IO, Errno::ROFS, Errno::NXIO, Errno::STALE] {
            assert!(failure(disk), "{disk}");
        }
        for other in [
            Errno::NOENT,
            Errno::NOTDIR,
            Errno::ISDIR,
            Errno::LOOP,
            Errno::ACCESS,
            Errno::MFILE,
            Errno::NFILE,
            Errno::NOSPC,
            Errno::DQUOT,
        ] {
            assert!(!failure(other), "{other}");
        }
        assert!(is_disk_failure(&io::Error::other("unknown")));
    }
}
