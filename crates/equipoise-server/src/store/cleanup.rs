//! Removes what an earlier process left unfinished. Runs at startup, after the integrity check.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::staged_roots::is_staging_name;
use super::{Store, StoreError};
use crate::protocol::{Digest, RoundId};

impl Store {
    /// Removes unfinished uploads, solves and setups, and files that no submission refers to. The caller holds the setup
    /// lock.
    pub(super) fn remove_leftovers(&self) -> Result<(), StoreError> {
        for folder in ["uploads", "canonical", "published"] {
            self.remove_interrupted_work(folder)?;
        }
        self.remove_orphans()?;
        self.remove_abandoned_setups()
    }

    /// Removes files of uploads and solves that were running when the process ended. Clients send them again, and
    /// solves start again.
    fn remove_interrupted_work(&self, folder: &str) -> Result<(), StoreError> {
        for (path, name) in entries(&self.folder.path().join(folder))? {
            if name.starts_with('.') || folder == "uploads" && path.is_dir() {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Removes content-addressed files that no submission refers to, because the process ended before the commit.
    fn remove_orphans(&self) -> Result<(), StoreError> {
        let mut referenced = BTreeSet::new();
        for round in self.rounds()? {
            for submission in self.submissions(&round)? {
                referenced.insert(self.folder.blob(submission.sha256));
                referenced.insert(self.folder.canonical(submission.canonical_sha256));
            }
        }
        for folder in ["sha256", "canonical"] {
            for (path, name) in entries(&self.folder.path().join(folder))? {
                if !referenced.contains(&path) && is_digest(&name) {
                    remove(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Removes the roots of rounds that were never committed. Roots that another process is still copying are left
    /// alone; that process holds a lock on their folder.
    fn remove_abandoned_setups(&self) -> Result<(), StoreError> {
        let rounds = self.rounds()?;
        for (path, name) in entries(&self.folder.path().join("rounds"))? {
            let is_abandoned = match is_staging_name(&name) {
                true => File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()),
                // Files that the server did not write are left alone.
                false => name.parse::<RoundId>().is_ok_and(|round| !rounds.contains(&round)),
            };
            if is_abandoned {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// The entries of a folder with their names.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, String)>, StoreError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(StoreError::file(folder))? {
        let entry = entry.map_err(StoreError::file(folder))?;
        found.push((entry.path(), entry.file_name().to_string_lossy().into_owned()));
    }
    Ok(found)
}

/// Removes a file, or a folder with everything in it. A symbolic link is removed, not what it points to.
fn remove(path: &Path) -> Result<(), StoreError> {
    let is_folder = fs::symlink_metadata(path).map_err(StoreError::file(path))?.is_dir();
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(StoreError::file(path))
}

/// Whether the file may have been written by the server. Other files are left alone.
fn is_digest(name: &str) -> bool {
    name.strip_suffix(".parquet").unwrap_or(name).parse::<Digest>().is_ok()
}
