//! Files and folders that no other user can access. Nothing here follows a symbolic link, except in the path that leads
//! to the data directory.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use equipoise_data::Staged;
use rustix::fs::{Mode, OFlags};
use tempfile::NamedTempFile;

use super::error::StoreError;

/// The mode of every folder in a data directory.
pub(super) const FOLDER_MODE: u32 = 0o700;
/// The mode of every file in a data directory.
pub(super) const FILE_MODE: u32 = 0o600;
/// The permissions of everyone but the owner.
pub(super) const OTHERS: u32 = 0o077;

/// Makes everything that this process creates from now on private, whatever the user's umask. Call it first in every
/// command that writes to a data directory or a backup.
pub fn set_private_umask() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Creates a folder, unless it exists. A symbolic link to a folder is an error.
pub fn create_private_folder(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path).map_err(StoreError::file(path))?;
            match () {
                () if found.is_symlink() => Err(StoreError::SymbolicLink(path.to_path_buf())),
                () if found.is_dir() => Ok(()),
                () => Err(StoreError::file(path)(ErrorKind::NotADirectory.into())),
            }
        }
        created => created.map_err(StoreError::file(path)),
    }
}

/// Writes a new file that only its owner can read. It appears complete or not at all. An existing file is an error.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = |error: io::Error| StoreError::file(path)(error);
    let create = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".equipoise-").permissions(Permissions::from_mode(FILE_MODE));
        builder.tempfile_in(folder)
    };
    // The full error would name the temporary file.
    let mut staged = Staged::create(create).map_err(|error| failed(error.kind().into()))?;
    let file = staged.item_mut();
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let persist = |file: NamedTempFile| file.persist_noclobber(path).map_err(|error| error.error);
    staged.finish(persist).map_err(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::file(folder))
}

/// Creates an empty file, unless it exists.
pub(super) fn create_if_missing(path: &Path) -> Result<(), StoreError> {
    match create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(|_| ()).map_err(StoreError::file(path)),
    }
}

/// Copies the content of a regular file, but not its permissions, to a new file.
pub(super) fn copy_private(from: &Path, to: &Path) -> Result<(), StoreError> {
    copy_content(open_regular(from).map_err(StoreError::file(from))?, to)
}

/// Copies the content of a file that a user named, and which may be a symbolic link, to a new file.
pub(super) fn copy_user_file(from: &Path, to: &Path) -> Result<(), StoreError> {
    copy_content(File::open(from).map_err(StoreError::file(from))?, to)
}

fn copy_content(mut source: File, to: &Path) -> Result<(), StoreError> {
    let mut target = create(to).map_err(StoreError::file(to))?;
    io::copy(&mut source, &mut target).map_err(StoreError::file(to))?;
    Ok(())
}

/// Creates a file. An existing file is an error.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Opens a file that holds a lock, and creates it if necessary.
pub(super) fn open_lock(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(FILE_MODE);
    let opened = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path);
    opened.map_err(StoreError::file(path))
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

/// Whether other users have any access to a private key. Follows symbolic links, because a certificate's key is often
/// installed as one.
pub(crate) fn is_open_to_others(key: &Path) -> io::Result<bool> {
    Ok(fs::metadata(key)?.permissions().mode() & OTHERS != 0)
}
