//! The operations that durability hangs on, behind a trait, so that a test can drop what was not synced,
//! fill the disk or break it.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// A disk.
pub trait Disk: Send + Sync {
    /// Opens a file for writing behind its first `keep` bytes; what was behind them is gone.
    fn open(&self, path: &Path, keep: u64) -> io::Result<File>;
    /// Writes all bytes.
    fn write(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()>;
    /// Makes a file's content last.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Gives a file or folder another name, in place of what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes the names in a folder last.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Bytes that can still be written.
    fn free_bytes(&self, folder: &Path) -> io::Result<u64>;
}

/// The disk of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, keep: u64) -> io::Result<File> {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.set_len(keep)?;
        file.seek(SeekFrom::Start(keep))?;
        Ok(file)
    }

    fn write(&self, _: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Writing is done by now; a handle for reading syncs the file all the same.
        File::open(path)?.sync_all()
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
