//! Back-ups: a copy of everything that is committed, made while the server runs, and the way back.
//!
//! The database is copied in one transaction, so it is the store of one moment. Every file that it speaks of
//! was on the disk before its row was committed and never changes afterwards: it can be copied later.
//! Files on their way are left out; whoever sent them sends them again. Neither a back-up nor a restored
//! directory has its name before the same checks have passed as at the start of a server.

mod listing;

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::folder::digest_of_file;
use super::{DataFolder, Store, StoreError, StoreParts, write_private};
use crate::protocol::Digest;

pub use listing::{BackUp, BackUpFile};

const LISTING: &str = "backup.json";
const DATABASE: &str = "equipoise.db";
const VERSION: u32 = 1;

/// Copies a data directory, also one that a server is using. Gives the list of what was copied, and the
/// digest of that list.
pub fn back_up(data: &Path, target: &Path) -> Result<(BackUp, Digest), StoreError> {
    if !data.join(DATABASE).is_file() {
        return Err(wrong(data, "is no data directory: it has no equipoise.db"));
    }
    let staging = Staging::beside(target)?;
    copy_database(&data.join(DATABASE), &staging.path.join(DATABASE))?;
    let key = data.join("server.key");
    let content = fs::read(&key).map_err(StoreError::file(&key))?;
    write_private(&staging.path.join("server.key"), &content)?;
    copy(data, &staging.path, Path::new("server.pub"))?;
    for file in listing::referenced_files(&staging.path.join(DATABASE))? {
        copy(data, &staging.path, &file)?;
    }
    let rounds = check(&staging.path)?;
    let files = listing::list(&staging.path)?;
    let made = BackUp { version: VERSION, at: Timestamp::now(), rounds, files };
    let text = made.to_json();
    let path = staging.path.join(LISTING);
    fs::write(&path, &text).map_err(StoreError::file(&path))?;
    staging.finish(target)?;
    Ok((made, Digest::of(text.as_bytes())))
}

/// Makes a data directory of a back-up, in a place where nothing is. With `expected`, the list of the
/// back-up must have this digest.
pub fn restore(backup: &Path, data: &Path, expected: Option<Digest>) -> Result<BackUp, StoreError> {
    let path = backup.join(LISTING);
    let text = fs::read(&path).map_err(StoreError::file(&path))?;
    let found = Digest::of(&text);
    if expected.is_some_and(|expected| expected != found) {
        return Err(wrong(&path, format!("is not the list you named: its SHA-256 is {found}")));
    }
    let made: BackUp = serde_json::from_slice(&text)
        .map_err(|error| wrong(&path, format!("is no list of a back-up: {error}")))?;
    if made.version != VERSION {
        let problem = format!("has version {}, this program knows {VERSION}", made.version);
        return Err(wrong(&path, problem));
    }
    let staging = Staging::beside(data)?;
    for file in &made.files {
        let relative = listing::relative(&file.path).ok_or_else(|| {
            wrong(&path, format!("names `{}`, which is no file of a back-up", file.path))
        })?;
        copy(backup, &staging.path, relative)?;
        let copied = staging.path.join(relative);
        let found = digest_of_file(&copied)?;
        if found != file.sha256 {
            let problem = format!(
                "does not match the back-up's list: its SHA-256 is {found}, not {}",
                file.sha256
            );
            return Err(wrong(&backup.join(relative), problem));
        }
    }
    let rounds = check(&staging.path)?;
    if rounds != made.rounds {
        return Err(wrong(&path, "names other rounds than the database has"));
    }
    staging.finish(data)?;
    Ok(made)
}

/// Everything that the start of a server checks; gives the rounds.
fn check(folder: &Path) -> Result<Vec<crate::protocol::Name>, StoreError> {
    for needed in [DATABASE, "server.key"] {
        if !folder.join(needed).is_file() {
            return Err(wrong(&folder.join(needed), "is not there"));
        }
    }
    let store = Store::open(DataFolder::open(folder)?, StoreParts::default())?;
    let rounds = store.rounds()?;
    drop(store);
    let lock = folder.join("lock");
    fs::remove_file(&lock).map_err(StoreError::file(&lock))?;
    Ok(rounds)
}

fn copy_database(from: &Path, to: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(from, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    Ok(())
}

fn copy(from: &Path, to: &Path, file: &Path) -> Result<(), StoreError> {
    let (source, target) = (from.join(file), to.join(file));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    }
    fs::copy(&source, &target).map_err(StoreError::file(&source))?;
    Ok(())
}

fn wrong(path: &Path, problem: impl Into<String>) -> StoreError {
    StoreError::BackUp { path: path.to_path_buf(), problem: problem.into() }
}

/// A hidden folder beside the target, which gets the target's name when all is in it; gone otherwise.
struct Staging {
    path: PathBuf,
    parent: PathBuf,
}

impl Staging {
    fn beside(target: &Path) -> Result<Self, StoreError> {
        let is_free = match fs::read_dir(target) {
            Ok(mut entries) => entries.next().is_none(),
            Err(_) => !target.exists(),
        };
        if !is_free {
            return Err(wrong(target, "is there already, and not an empty folder"));
        }
        let name = target
            .file_name()
            .ok_or_else(|| wrong(target, "must be a folder's name"))?
            .to_string_lossy();
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let path = parent.join(format!(".{name}.{}", std::process::id()));
        // It will hold the server's private key.
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(StoreError::file(&path))?;
        Ok(Self { path, parent })
    }

    fn finish(self, target: &Path) -> Result<(), StoreError> {
        sync_all(&self.path)?;
        fs::rename(&self.path, target).map_err(StoreError::file(target))?;
        File::open(&self.parent)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::file(&self.parent))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a rename there is nothing of this name.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Files before the folder that has their names.
fn sync_all(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::file(folder))? {
        let path = entry.map_err(StoreError::file(folder))?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).map_err(StoreError::file(&path))?;
        }
    }
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(StoreError::file(folder))
}
