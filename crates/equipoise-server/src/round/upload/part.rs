//! The file that receives a body.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use equipoise_data::Hasher;

use crate::protocol::{Manifest, Refusal};
use crate::store::{Store, StoreError, remove_if_present};

/// Bytes written to disk at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// A partial upload, hashed as it grows. Only the owner of the upload has it.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    hasher: Hasher,
    buffer: Vec<u8>,
    received: u64,
}

impl Part {
    /// Opens the part of this manifest, with its first `offset` bytes. A client has one part at a time, so its others
    /// are removed.
    pub(super) fn open(
        store: &Store,
        manifest: &Manifest,
        offset: u64,
    ) -> Result<Self, StoreError> {
        let path = store.folder().part(manifest);
        store.folder().create_uploads(&manifest.round)?;
        for other in store.folder().parts_of(&manifest.round, &manifest.client) {
            if other != path {
                remove_if_present(&other);
            }
        }
        let found = path.metadata().map_or(0, |found| found.len());
        if offset > 0 && found != offset {
            return Err(Refusal::OffsetMismatch { offset: found, found: offset }.into());
        }
        let failed = || StoreError::file(&path);
        let mut file = store.disk().open(&path, offset).map_err(failed())?;
        let mut hasher = Hasher::default();
        file.rewind().map_err(failed())?;
        std::io::copy(&mut (&file).take(offset), &mut hasher).map_err(failed())?;
        file.seek(SeekFrom::Start(offset)).map_err(failed())?;
        Ok(Self { path, file, hasher, buffer: Vec::new(), received: offset })
    }

    /// Bytes received so far.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
    }

    pub(super) fn is_buffer_full(&self) -> bool {
        self.buffer.len() >= BUFFER_BYTES
    }

    /// Writes and hashes what is buffered.
    pub(super) fn flush(&mut self, store: &Store) -> Result<(), StoreError> {
        let written = store.disk().write(&self.path, &mut self.file, &self.buffer);
        written.map_err(StoreError::file(&self.path))?;
        self.hasher.update(&self.buffer);
        self.buffer.clear();
        Ok(())
    }

    /// Makes a complete body durable if it is the file that the client signed, and returns its path. Otherwise
    /// removes it.
    pub(super) fn finish(
        mut self,
        store: &Store,
        manifest: &Manifest,
    ) -> Result<PathBuf, StoreError> {
        self.flush(store)?;
        let found = self.hasher.finish();
        if found != manifest.sha256 {
            remove_if_present(&self.path);
            return Err(Refusal::DigestMismatch(found).into());
        }
        store.sync_file("an upload", &self.path)?;
        store.crash().at("after_part_sync");
        Ok(self.path)
    }

    /// Ends an incomplete body. It is kept for resumption, if that is still possible.
    pub(super) fn suspend(mut self, store: &Store, can_resume: bool) -> Result<(), StoreError> {
        match can_resume {
            true => self.flush(store)?,
            false => remove_if_present(&self.path),
        }
        Ok(())
    }
}
