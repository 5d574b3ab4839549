//! Files that are written completely or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::staging::Staged;

/// Writes a file atomically: `write` fills a temporary file in the same folder, which is synced and renamed. If
/// anything fails, or the program is interrupted, the temporary file is removed and an existing file is untouched. An existing file is replaced
/// only with `force`.
pub fn write_atomically<T>(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<T>,
) -> Result<T, Error> {
    let folder = parent(path)?;
    check_target(path, force)?;
    let failed = |source| Error::Write { file: path.to_path_buf(), source };
    let mut temporary = Staged::create(|| builder(0o666).tempfile_in(&folder))
        // The full error would name the temporary file.
        .map_err(|error| failed(error.kind().into()))?;
    let mut out = BufWriter::new(temporary.item_mut().as_file_mut());
    let result = write(&mut out).map_err(failed)?;
    out.flush().map_err(failed)?;
    drop(out);
    temporary.item_mut().as_file().sync_all().map_err(failed)?;
    let persist = |file: NamedTempFile| match force {
        true => file.persist(path).map_err(|error| error.error),
        false => file.persist_noclobber(path).map_err(|error| error.error),
    };
    temporary.finish(persist).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(path.to_path_buf()),
        _ => failed(error),
    })?;
    sync_folder(&folder);
    Ok(result)
}

/// Writes a value as indented JSON with a final line break.
pub fn write_json(path: &Path, value: &impl Serialize, force: bool) -> Result<(), Error> {
    write_atomically(path, force, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// Checks that a file can be written there, so that a long task can fail before it starts.
pub fn check_output(path: &Path, force: bool) -> Result<(), Error> {
    parent(path)?;
    check_target(path, force)
}

/// The parent folder of an output, which must exist.
pub(crate) fn parent(path: &Path) -> Result<PathBuf, Error> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(Error::Invalid(format!(
            "{}: cannot be written because the folder {} does not exist. Create it first.",
            path.display(),
            folder.display()
        )))
    }
}

/// Temporary files are private by default; an output gets the mode that the user's umask allows.
pub(crate) fn builder(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".equipoise-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes a rename durable if the system supports it.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn check_target(path: &Path, force: bool) -> Result<(), Error> {
    let file = path.to_path_buf();
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::Write { file, source }),
        Ok(_) if !force => Err(Error::Exists(file)),
        Ok(found) if !found.is_file() && !found.is_symlink() => Err(Error::Invalid(format!(
            "{}: is not a regular file, so it is not replaced. Choose another name.",
            file.display()
        ))),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
