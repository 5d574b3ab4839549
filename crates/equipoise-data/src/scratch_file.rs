//! A file for rows that do not fit in memory. It has no name, so it disappears when the program ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use equipoise_core::{Spill, SpillError};

use crate::error::Error;

/// Blocks of bytes in an unnamed file, each in its own slot.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    folder: PathBuf,
    file: File,
    slot_bytes: u64,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    n: u64,
    free: Vec<u64>,
}

impl ScratchFile {
    /// A file in `folder` for blocks of at most `slot_bytes`.
    pub(crate) fn create(folder: &Path, slot_bytes: usize) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(folder).map_err(|source| Error::Scratch {
            folder: folder.to_path_buf(),
            bytes: 0,
            source,
        })?;
        Ok(Self::of_file(folder, file, slot_bytes))
    }

    fn of_file(folder: &Path, file: File, slot_bytes: usize) -> Self {
        let slots = Mutex::default();
        Self { folder: folder.to_path_buf(), file, slot_bytes: slot_bytes as u64, slots }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, source: io::Error) -> SpillError {
        let bytes = self.slots().n * self.slot_bytes;
        Box::new(Error::Scratch { folder: self.folder.clone(), bytes, source })
    }
}

impl Spill for ScratchFile {
    fn write(&self, bytes: &[u8]) -> Result<u64, SpillError> {
        let slot = {
            let mut slots = self.slots();
            slots.free.pop().unwrap_or_else(|| {
                slots.n += 1;
                slots.n - 1
            })
        };
        write_at(&self.file, bytes, slot * self.slot_bytes).map_err(|error| self.failed(error))?;
        Ok(slot)
    }

    fn read(&self, slot: u64, bytes: &mut [u8]) -> Result<(), SpillError> {
        read_at(&self.file, bytes, slot * self.slot_bytes).map_err(|error| self.failed(error))
    }

    fn forget(&self, slot: u64) {
        self.slots().free.push(slot);
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        (bytes, at) = (&bytes[written..], at + written as u64);
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (bytes, at) = (&mut bytes[read..], at + read as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
