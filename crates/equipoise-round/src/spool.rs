//! Bytes on their way in: an anonymous temporary file beside the round, hashed as it grows. It vanishes with the
//! process.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use equipoise_data::{Digest, Hasher};

use crate::error::{Error, Result};

/// How much is read or written at once.
pub const PIECE: usize = 64 << 10;

/// A temporary file that is being filled.
#[derive(Debug)]
pub struct Spool {
    file: File,
    hasher: Hasher,
    length: u64,
    folder: PathBuf,
}

/// A filled temporary file.
#[derive(Debug)]
pub struct Spooled {
    /// Its content, from the first byte on.
    pub file: File,
    /// Its length.
    pub length: u64,
    /// Its digest.
    pub sha256: Digest,
}

impl Spool {
    /// An empty file in this folder.
    pub fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::io(folder))?;
        Ok(Self { file, hasher: Hasher::default(), length: 0, folder: folder.to_path_buf() })
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io(&self.folder))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The file, ready to read.
    pub fn finish(mut self) -> Result<Spooled> {
        self.file.seek(SeekFrom::Start(0)).map_err(Error::io(&self.folder))?;
        Ok(Spooled { file: self.file, length: self.length, sha256: self.hasher.finish() })
    }

    /// Fills a file with everything from a source, but not more than `limit` bytes and one.
    pub fn fill(folder: &Path, source: &mut dyn Read, limit: u64) -> Result<Spooled> {
        let mut spool = Self::new(folder)?;
        let mut source = source.take(limit + 1);
        each_piece(&mut source, |bytes| spool.write(bytes), Error::io(folder))?;
        spool.finish()
    }
}

/// Reads a source to its end, piece by piece.
pub(crate) fn each_piece(
    source: &mut dyn Read,
    mut use_piece: impl FnMut(&[u8]) -> Result<()>,
    failed: impl FnOnce(io::Error) -> Error,
) -> Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => use_piece(&piece[..n])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
