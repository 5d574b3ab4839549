//! Folders that are there as a whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::Error;
use crate::output_file::{builder, parent, sync_folder};

/// Everything that an output folder of this program may hold, at its top. A folder with anything else in
/// it is somebody's work, and is never replaced.
const OURS: [&str; 16] = [
    "outcome.json",
    "model.json",
    "weights.csv",
    "report.html",
    "schema.toml",
    "population.csv",
    "test.csv",
    "data",
    "root",
    "proxies",
    "bilevel",
    "pooled",
    "fedasl",
    "fednolowe",
    "root-only",
    "demo.json",
];

/// Of these, a folder to be replaced must hold one: they are written by nothing else.
const MARKS: [&str; 2] = ["outcome.json", "demo.json"];

/// A folder under construction, beside the place where it will be. Dropped without
/// [`commit`](Self::commit), it is gone.
#[derive(Debug)]
pub struct OutputFolder {
    temporary: TempDir,
    target: PathBuf,
    force: bool,
}

impl OutputFolder {
    /// Begins a folder. An existing one is replaced only with `force`, only at the commit, and only if it
    /// is empty or an output of this program: not the home folder, nor the one that the user is in.
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let folder = parent(path)?;
        check_target(path, force)?;
        let temporary = builder(0o777)
            .tempdir_in(&folder)
            .map_err(|source| Error::Write { file: path.to_path_buf(), source })?;
        Ok(Self { temporary, target: path.to_path_buf(), force })
    }

    /// Where to write the files until the commit.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Puts the folder in its place; gives that place.
    pub fn commit(self) -> Result<PathBuf, Error> {
        // Again, for much may have happened since.
        check_target(&self.target, self.force)?;
        let target = self.target;
        let failed = |source| Error::Write { file: target.clone(), source };
        let folder = parent(&target)?;
        if target.symlink_metadata().is_ok() {
            let attic = builder(0o700).tempdir_in(&folder).map_err(failed)?;
            let old = attic.path().join("old");
            fs::rename(&target, &old).map_err(failed)?;
            if let Err(error) = fs::rename(self.temporary.path(), &target) {
                // The rename that did not work is what to report, whether or not this one does.
                let _ = fs::rename(&old, &target);
                return Err(failed(error));
            }
            attic.close().map_err(failed)?;
        } else {
            fs::rename(self.temporary.path(), &target).map_err(failed)?;
        }
        sync_folder(&folder);
        // The folder is elsewhere now: there is nothing left to remove.
        let _ = self.temporary.keep();
        Ok(target)
    }
}

fn check_target(path: &Path, force: bool) -> Result<(), Error> {
    let refused = || Error::NotOurFolder { folder: path.to_path_buf() };
    let failed = |source| Error::Write { file: path.to_path_buf(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(failed(source)),
        Ok(_) if !force => {
            return Err(Error::Exists { file: path.to_path_buf() });
        }
        // A link to a folder is somebody's arrangement, too.
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

/// Empty, or with a file that only our outputs have and with nothing that they do not have.
fn looks_like_ours(folder: &Path) -> io::Result<bool> {
    let names = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    let marked = names.iter().any(|name| MARKS.contains(&name.as_str()));
    let ours = names.iter().all(|name| OURS.contains(&name.as_str()));
    Ok(names.is_empty() || (marked && ours))
}

#[cfg(test)]
mod tests;
