//! Backup and restore. A backup copies everything that is committed, while the server runs.
//!
//! The database is copied in one transaction, so the backup is a consistent snapshot. Every file that it refers to
//! was on disk before its row was committed and never changes afterwards, so it can be copied later. Running
//! uploads are left out; their clients send them again. A backup or a restored directory gets its name only after
//! passing the checks that a server runs at startup.

mod listing;

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use equipoise_data::{Staged, uninterrupted};
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::folder::digest_of_file;
use super::private::{FOLDER_MODE, copy_private, create_if_missing};
use super::{DataFolder, Store, StoreError, StoreParts, write_private};
use crate::protocol::Digest;

pub use listing::{Backup, BackupFile};

const LISTING: &str = "backup.json";
const DATABASE: &str = "equipoise.db";
const VERSION: u32 = 1;

/// Copies a data directory, even while a server uses it. Returns the list of copied files and the digest of that
/// list.
pub fn back_up(data: &Path, target: &Path) -> Result<(Backup, Digest), StoreError> {
    if !data.join(DATABASE).is_file() {
        return Err(invalid(data, "is not a data directory: it has no equipoise.db"));
    }
    let staging = Staging::beside(target)?;
    copy_database(&data.join(DATABASE), &staging.path.join(DATABASE))?;
    let key = data.join("server.key");
    let content = fs::read(&key).map_err(StoreError::file(&key))?;
    write_private(&staging.path.join("server.key"), &content)?;
    copy(data, &staging.path, Path::new("server.pub"))?;
    for file in listing::referenced_files(&staging.path.join(DATABASE))? {
        let relative = listing::relative(&file).ok_or_else(|| {
            invalid(data, format!("its database refers to `{file}`, which is not inside it"))
        })?;
        copy(data, &staging.path, relative)?;
    }
    let rounds = check(&staging.path)?;
    let files = listing::list(&staging.path)?;
    let listed = Backup { version: VERSION, at: Timestamp::now(), rounds, files };
    let text = listed.to_json();
    write_private(&staging.path.join(LISTING), text.as_bytes())?;
    staging.finish(target)?;
    Ok((listed, Digest::of(text.as_bytes())))
}

/// Restores a backup to a new data directory. If `expected` is given, the backup's list must have this digest.
pub fn restore(backup: &Path, data: &Path, expected: Option<Digest>) -> Result<Backup, StoreError> {
    let path = backup.join(LISTING);
    let text = fs::read(&path).map_err(StoreError::file(&path))?;
    let found = Digest::of(&text);
    if expected.is_some_and(|expected| expected != found) {
        return Err(invalid(
            &path,
            format!("does not have the digest you gave: its SHA-256 is {found}"),
        ));
    }
    let listed: Backup = serde_json::from_slice(&text)
        .map_err(|error| invalid(&path, format!("is not a valid backup list: {error}")))?;
    if listed.version != VERSION {
        let problem =
            format!("has version {}, but this program supports {VERSION}", listed.version);
        return Err(invalid(&path, problem));
    }
    let staging = Staging::beside(data)?;
    for file in &listed.files {
        let relative = listing::relative(&file.path).ok_or_else(|| {
            invalid(&path, format!("lists `{}`, which is not inside the backup", file.path))
        })?;
        copy(backup, &staging.path, relative)?;
        let copied = staging.path.join(relative);
        let found = digest_of_file(&copied)?;
        if found != file.sha256 {
            let problem = format!(
                "does not match the backup's list: its SHA-256 is {found}, not {}",
                file.sha256
            );
            return Err(invalid(&backup.join(relative), problem));
        }
    }
    let rounds = check(&staging.path)?;
    if rounds != listed.rounds {
        return Err(invalid(&path, "does not list the same rounds as the database"));
    }
    staging.finish(data)?;
    Ok(listed)
}

/// Runs the checks that a server runs at startup, and returns the rounds.
fn check(folder: &Path) -> Result<Vec<crate::protocol::RoundId>, StoreError> {
    for needed in [DATABASE, "server.key"] {
        if !folder.join(needed).is_file() {
            return Err(invalid(&folder.join(needed), "is missing"));
        }
    }
    let store = Store::open(DataFolder::open(folder)?, StoreParts::default())?;
    let rounds = store.rounds()?;
    drop(store);
    for lock in ["lock", "setup.lock"].map(|name| folder.join(name)) {
        fs::remove_file(&lock).map_err(StoreError::file(&lock))?;
    }
    Ok(rounds)
}

fn copy_database(from: &Path, to: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(from, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    // SQLite writes to an empty file as well, and keeps its permissions.
    create_if_missing(to)?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    Ok(())
}

fn copy(from: &Path, to: &Path, file: &Path) -> Result<(), StoreError> {
    let (source, target) = (from.join(file), to.join(file));
    if let Some(folder) = target.parent() {
        let created = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder);
        created.map_err(StoreError::file(folder))?;
    }
    copy_private(&source, &target)
}

fn invalid(path: &Path, problem: impl Into<String>) -> StoreError {
    StoreError::Backup(path.to_path_buf(), problem.into())
}

/// A hidden folder beside the target. It is renamed to the target when complete, and removed otherwise.
struct Staging {
    path: PathBuf,
    parent: PathBuf,
    _until_dropped: Staged<PathBuf>,
}

impl Staging {
    fn beside(target: &Path) -> Result<Self, StoreError> {
        let is_free = match fs::read_dir(target) {
            Ok(mut entries) => entries.next().is_none(),
            Err(_) => !target.exists(),
        };
        if !is_free {
            return Err(invalid(target, "already exists and is not an empty folder"));
        }
        let name = target
            .file_name()
            .ok_or_else(|| invalid(target, "must be the name of a folder"))?
            .to_string_lossy();
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let path = parent.join(format!(".{name}.{}", std::process::id()));
        // It will contain the server's private key.
        let create = || DirBuilder::new().mode(FOLDER_MODE).create(&path).map(|()| path.clone());
        let staged = Staged::create(create).map_err(StoreError::file(&path))?;
        Ok(Self { path, parent, _until_dropped: staged })
    }

    fn finish(self, target: &Path) -> Result<(), StoreError> {
        sync_all(&self.path)?;
        uninterrupted(|| fs::rename(&self.path, target)).map_err(StoreError::file(target))?;
        sync(&self.parent)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After the rename, nothing has this name.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Syncs all files, then the folders that contain them.
fn sync_all(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::file(folder))? {
        let path = entry.map_err(StoreError::file(folder))?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            sync(&path)?;
        }
    }
    sync(folder)
}

fn sync(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(StoreError::file(path))
}
