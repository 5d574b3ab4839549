//! Files and folders that no other user can access. Nothing here follows a symbolic link.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::error::StoreError;

/// The mode of every folder in a data directory.
pub(super) const FOLDER_MODE: u32 = 0o700;
/// The mode of every file in a data directory.
pub(super) const FILE_MODE: u32 = 0o600;

/// Creates a folder, unless it exists. A symbolic link to a folder is an error.
pub fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            match fs::symlink_metadata(path).map_err(StoreError::file(path))?.is_dir() {
                true => Ok(()),
                false => Err(StoreError::file(path)(ErrorKind::NotADirectory.into())),
            }
        }
        created => created.map_err(StoreError::file(path)),
    }
}

/// Writes a new file that only its owner can read. An existing file is an error.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let mut file = create(path).map_err(StoreError::file(path))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(StoreError::file(path))
}

/// Creates a file. An existing file is an error.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Opens a regular file for reading.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a pipe would otherwise wait for a writer.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "is not a regular file")),
    }
}
