//! Output folders that appear complete or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use equipoise_core::{Choice, Defense};
use tempfile::TempDir;

use crate::error::Error;
use crate::output_file::{builder, parent, sync_folder};
use crate::staging::Staged;

/// Everything that an output folder of this program may hold at its top level, besides a folder per defense. A folder
/// that holds anything else is someone's work and is never replaced.
const OUR_NAMES: [&str; 12] = [
    "outcome.json",
    "model.json",
    "weights.csv",
    "report.html",
    "schema.toml",
    "population.csv",
    "test.csv",
    "data",
    "trusted.csv",
    "proxies",
    "demo.json",
    "nodes.json",
];

/// A folder to be replaced must hold one of these, which no other program writes.
const MARKERS: [&str; 2] = ["outcome.json", "demo.json"];

/// A folder under construction, next to its final location. It is removed if dropped without
/// [`commit`](Self::commit), or if the program is interrupted.
#[derive(Debug)]
pub struct OutputFolder {
    temporary: Staged<TempDir>,
    target: PathBuf,
    force: bool,
}

impl OutputFolder {
    /// Starts a folder. An existing folder is replaced only with `force`, only at the commit, and only if it is empty
    /// or an output of this program, and never if it contains the current directory.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let folder = parent(path)?;
        check_target(path, force)?;
        let temporary = Staged::create(|| builder(0o777).tempdir_in(&folder))
            .map_err(|source| Error::Write { file: path.to_path_buf(), source })?;
        Ok(Self { temporary, target: path.to_path_buf(), force })
    }

    /// The folder to write the files to before the commit.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Moves the folder to its final location and returns that.
    pub fn commit(self) -> Result<PathBuf, Error> {
        let Self { temporary, target, force } = self;
        temporary.finish(|folder| move_into_place(folder, &target, force))?;
        Ok(target)
    }
}

fn move_into_place(temporary: TempDir, target: &Path, force: bool) -> Result<(), Error> {
    // Check again: the target may have changed since.
    check_target(target, force)?;
    let failed = |source| Error::Write { file: target.to_path_buf(), source };
    let folder = parent(target)?;
    if target.symlink_metadata().is_ok() {
        let backup = builder(0o700).tempdir_in(&folder).map_err(failed)?;
        let old = backup.path().join("old");
        fs::rename(target, &old).map_err(failed)?;
        if let Err(error) = fs::rename(temporary.path(), target) {
            // Report the rename that failed, whether or not this one succeeds.
            let _ = fs::rename(&old, target);
            return Err(failed(error));
        }
        backup.close().map_err(failed)?;
    } else {
        fs::rename(temporary.path(), target).map_err(failed)?;
    }
    sync_folder(&folder);
    // The folder was moved: there is nothing left to remove.
    let _ = temporary.keep();
    Ok(())
}

fn check_target(path: &Path, force: bool) -> Result<(), Error> {
    let refused = || Error::NotOurFolder(path.to_path_buf());
    let failed = |source| Error::Write { file: path.to_path_buf(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(failed(source)),
        Ok(_) if !force => {
            return Err(Error::Exists(path.to_path_buf()));
        }
        // A link to a folder is never replaced.
        Ok(found) if !found.is_dir() => return Err(refused()),
        Ok(_) => {}
    }
    let whole = fs::canonicalize(path).map_err(failed)?;
    let user_is_inside = std::env::current_dir().is_ok_and(|here| here.starts_with(&whole));
    if user_is_inside || !looks_like_ours(path).map_err(failed)? {
        return Err(refused());
    }
    Ok(())
}

/// Whether a folder is empty, or has a marker file and nothing that this program does not write.
fn looks_like_ours(folder: &Path) -> io::Result<bool> {
    let names = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    let is_ours = |name: &String| {
        OUR_NAMES.contains(&name.as_str())
            || Defense::ALL.iter().any(|defense| defense.name() == name)
    };
    let marked = names.iter().any(|name| MARKERS.contains(&name.as_str()));
    Ok(names.is_empty() || (marked && names.iter().all(is_ours)))
}

#[cfg(test)]
mod tests;
