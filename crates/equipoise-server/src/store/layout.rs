//! The layout of a data directory: what belongs there, to whom, and with which permissions.

use std::fs::{self, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::StoreError;
use super::private::{FILE_MODE, FOLDER_MODE, OTHERS, create_private_folder, is_open_to_others};

/// The folders of a data directory.
const FOLDERS: [&str; 5] = ["uploads", "sha256", "canonical", "rounds", "published"];
/// Its files. The last three belong to SQLite.
const FILES: [&str; 8] = [
    "lock",
    "setup.lock",
    "server.key",
    "server.pub",
    "equipoise.db",
    "equipoise.db-wal",
    "equipoise.db-shm",
    "equipoise.db-journal",
];

/// Creates the folders that do not exist. Refuses a directory of another user, and a symbolic link among its folders
/// and files.
pub(super) fn create(data: &Path) -> Result<(), StoreError> {
    if !data.exists() {
        let parent = data.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).map_err(StoreError::file(parent))?;
        create_private_folder(data)?;
    }
    let found = data.metadata().map_err(StoreError::file(data))?;
    check_owner(data, &found)?;
    for name in FILES {
        if data.join(name).is_symlink() {
            return Err(StoreError::SymbolicLink(data.join(name)));
        }
    }
    FOLDERS.iter().try_for_each(|name| create_private_folder(&data.join(name)))
}

/// Takes away all permissions of other users. Refuses symbolic links, special files, and files of other users at any
/// depth, and a server key that other users may have read.
pub(super) fn secure(data: &Path) -> Result<(), StoreError> {
    let key = data.join("server.key");
    if is_open_to_others(&key).map_err(StoreError::file(&key))? {
        return Err(StoreError::ReadableKey(key));
    }
    let mut n_restricted = 0;
    // The directory itself may be a link, for example to another disk.
    let found = data.metadata().map_err(StoreError::file(data))?;
    restrict(data, &found, &mut n_restricted)?;
    for name in FILES.iter().chain(&FOLDERS) {
        secure_entry(&data.join(name), &mut n_restricted)?;
    }
    if n_restricted > 0 {
        tracing::warn!(
            data = %data.display(),
            n_restricted,
            "other users had access to files or folders in the data directory; their permissions are now restricted"
        );
    }
    Ok(())
}

/// Takes away the permissions of other users on a file or folder, if it exists, and everything in it. A symbolic link is
/// an error.
pub fn make_private(path: &Path) -> Result<(), StoreError> {
    secure_entry(path, &mut 0)
}

/// Secures an entry, which may not exist, and everything below it.
fn secure_entry(path: &Path, n_restricted: &mut usize) -> Result<(), StoreError> {
    match secure_existing(path, n_restricted) {
        // Another process that sets up a round moves its files meanwhile.
        Err(StoreError::File(_, error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        secured => secured,
    }
}

fn secure_existing(path: &Path, n_restricted: &mut usize) -> Result<(), StoreError> {
    let found = fs::symlink_metadata(path).map_err(StoreError::file(path))?;
    if found.is_symlink() {
        return Err(StoreError::SymbolicLink(path.to_path_buf()));
    }
    if !found.is_file() && !found.is_dir() {
        return Err(StoreError::SpecialFile(path.to_path_buf()));
    }
    check_owner(path, &found)?;
    restrict(path, &found, n_restricted)?;
    if found.is_dir() {
        for entry in fs::read_dir(path).map_err(StoreError::file(path))? {
            secure_entry(&entry.map_err(StoreError::file(path))?.path(), n_restricted)?;
        }
    }
    Ok(())
}

fn check_owner(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    match found.uid() == rustix::process::geteuid().as_raw() {
        true => Ok(()),
        false => Err(StoreError::OtherOwner { path: path.to_path_buf(), uid: found.uid() }),
    }
}

fn restrict(path: &Path, found: &Metadata, n_restricted: &mut usize) -> Result<(), StoreError> {
    if found.permissions().mode() & OTHERS == 0 {
        return Ok(());
    }
    *n_restricted += 1;
    let mode = if found.is_dir() { FOLDER_MODE } else { FILE_MODE };
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(StoreError::file(path))
}
