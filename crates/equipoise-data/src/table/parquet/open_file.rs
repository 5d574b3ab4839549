//! An open file as the Parquet decoder reads it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file of known length. Unlike the decoder's own reader of a [`File`], it needs neither `fstat` nor further file
/// descriptors, which a sandboxed reader does not have.
pub(crate) struct OpenFile {
    file: Arc<File>,
    length: u64,
}

impl OpenFile {
    pub(crate) fn new(file: File, length: u64) -> Self {
        Self { file: Arc::new(file), length }
    }

    fn at(&self, offset: u64) -> At {
        At { file: Arc::clone(&self.file), offset }
    }
}

impl Length for OpenFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for OpenFile {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut buffer = Vec::with_capacity(length);
        let read = self.at(start).take(length as u64).read_to_end(&mut buffer)?;
        if read == length {
            Ok(buffer.into())
        } else {
            Err(ParquetError::EOF(format!("Expected to read {length} bytes, read only {read}")))
        }
    }
}

/// Reads from an offset on.
pub(crate) struct At {
    file: Arc<File>,
    offset: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Several of these share the file and its position.
        (&*self.file).seek(SeekFrom::Start(self.offset))?;
        let n = (&*self.file).read(buffer)?;
        self.offset += n as u64;
        Ok(n)
    }
}
