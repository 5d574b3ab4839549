//! The disk operations that durability depends on, behind a trait so that tests can lose unsynced data, fill the
//! disk or make it fail.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::private::FILE_MODE;

/// A disk.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing, truncated to its first `keep` bytes.
    fn open(&self, path: &Path, keep: u64) -> io::Result<File>;
    /// Writes all bytes.
    fn write(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Makes the content of this open file durable.
    fn sync_file(&self, path: &Path, file: &File) -> io::Result<()>;
    /// Renames a file or folder, replacing the target.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Free disk space.
    fn free_bytes(&self, folder: &Path) -> io::Result<u64>;
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, keep: u64) -> io::Result<File> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(FILE_MODE)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        file.set_len(keep)?;
        file.seek(SeekFrom::Start(keep))?;
        Ok(file)
    }

    fn write(&self, _: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync_file(&self, _: &Path, file: &File) -> io::Result<()> {
        // Works on a read-only handle as well, for all earlier writes.
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<u64> {
        let found = rustix::fs::statvfs(folder)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }
}
