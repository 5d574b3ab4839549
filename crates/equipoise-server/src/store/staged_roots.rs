//! The roots of a round that is being set up, in a hidden folder until the round is committed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use equipoise_data::{
    Purpose, Staged, Trusted, csv_bytes, hex, read_folder, read_rows, trusted_rows_by_client,
};

use super::folder::{digest_of_file, random_bytes};
use super::private::{copy_user_file, create_private_folder, write_private};
use super::{NewRound, Store, StoreError};
use crate::protocol::{ClientId, RootFile, RoundId};

const STAGING_PREFIX: &str = ".new-";

/// Whether a folder of this name holds roots that are not committed yet.
pub(super) fn is_staging_name(name: &str) -> bool {
    name.starts_with(STAGING_PREFIX)
}

/// Copied roots. They are removed if dropped without [`keep`](Self::keep).
#[derive(Debug)]
pub(super) struct StagedRoots {
    /// The root of each client.
    pub(super) files: BTreeMap<ClientId, RootFile>,
    folder: PathBuf,
    _until_dropped: Staged<PathBuf>,
    /// Shows other processes that this one is still alive.
    _lock: File,
    is_kept: bool,
}

impl Store {
    /// Validates each client's root and copies it.
    pub(super) fn stage_roots(&self, new: &NewRound) -> Result<StagedRoots, StoreError> {
        if !new.roots.is_dir() {
            return self.stage_rows_of_table(new);
        }
        let found: BTreeMap<String, PathBuf> = read_folder(&new.roots)?.into_iter().collect();
        let mut staged = self.create_staging_folder()?;
        let target = staged.folder.join("root");
        create_private_folder(&target)?;
        for key in &new.roster {
            let client = key.name();
            let source = found.get(client.as_str()).ok_or_else(|| {
                StoreError::Round(format!(
                    "{}: there is no root for client `{client}`. Add {client}.csv, {client}.csv.gz or {client}.parquet \
                     to this folder.",
                    new.roots.display()
                ))
            })?;
            read_rows(source, &new.schema, Purpose::Root)?;
            let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let copy = target.join(&file);
            copy_user_file(source, &copy)?;
            self.sync_file("a root", &copy)?;
            let root = RootFile { sha256: digest_of_file(&copy)?, file };
            staged.files.insert(client.clone(), root);
            self.parts.crash.at("in_roots");
        }
        for folder in [&target, &staged.folder] {
            self.sync_folder("the roots", folder)?;
        }
        Ok(staged)
    }

    /// The same for one table of trusted rows, which becomes a table per client.
    fn stage_rows_of_table(&self, new: &NewRound) -> Result<StagedRoots, StoreError> {
        Trusted::Path(new.roots.clone()).read(&new.schema)?;
        let tables = trusted_rows_by_client(&new.roots, &new.schema)?;
        let mut staged = self.create_staging_folder()?;
        let target = staged.folder.join("root");
        create_private_folder(&target)?;
        for key in &new.roster {
            let (client, file) = (key.name(), format!("{}.csv", key.name()));
            let columns = tables.get(client.as_str()).ok_or_else(|| {
                StoreError::Round(format!(
                    "{}: there are no trusted rows of client `{client}`. Add some, with its name in the column `client`.",
                    new.roots.display()
                ))
            })?;
            let copy = target.join(&file);
            write_private(&copy, &csv_bytes(columns).map_err(StoreError::file(&copy))?)?;
            let root = RootFile { sha256: digest_of_file(&copy)?, file };
            staged.files.insert(client.clone(), root);
        }
        for folder in [&target, &staged.folder] {
            self.sync_folder("the roots", folder)?;
        }
        Ok(staged)
    }

    fn create_staging_folder(&self) -> Result<StagedRoots, StoreError> {
        // Without this lock, a server that starts now might take the folder for an abandoned one.
        let _setup = self.folder.lock_setup()?;
        let name = format!("{STAGING_PREFIX}{}", &hex(&random_bytes()?)[..16]);
        let folder = self.folder.path().join("rounds").join(name);
        let staged = Staged::create(|| {
            create_private_folder(&folder)?;
            Ok::<_, StoreError>(folder.clone())
        })?;
        let lock = File::open(&folder).map_err(StoreError::file(&folder))?;
        lock.lock().map_err(StoreError::file(&folder))?;
        Ok(StagedRoots {
            files: BTreeMap::new(),
            folder,
            _until_dropped: staged,
            _lock: lock,
            is_kept: false,
        })
    }
}

impl StagedRoots {
    /// Gives the folder its final name. The caller holds the setup lock, and no round has this name.
    pub(super) fn move_into_place(
        &mut self,
        store: &Store,
        round: &RoundId,
    ) -> Result<(), StoreError> {
        let parent = store.folder.path().join("rounds");
        let target = parent.join(round.as_str());
        // Left by a setup that was interrupted before its commit.
        remove_tree(&target);
        store.parts.disk.rename(&self.folder, &target).map_err(StoreError::file(&target))?;
        self.folder = target;
        store.sync_folder("the roots", &parent)
    }

    /// Keeps the files, because the round is committed.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for StagedRoots {
    fn drop(&mut self) {
        if !self.is_kept {
            remove_tree(&self.folder);
        }
    }
}

fn remove_tree(path: &Path) {
    if let Err(error) = fs::remove_dir_all(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(folder = %path.display(), %error, "cannot remove an obsolete folder");
    }
}
