//! The last step before a submission is accepted: its two files get their final names, durably.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::private::{FILE_MODE, open_regular};
use super::{Store, StoreError};
use crate::protocol::{Digest, Refusal, Validated};

impl Store {
    /// Stores an upload and its canonical table under their digests. Both are hashed again once they are durable, so
    /// that only what is on disk is accepted, whatever happened to the files since they were received. If a file has
    /// changed, the upload is refused and nothing is stored.
    pub fn persist(
        &self,
        part: &Path,
        canonical: &Path,
        sha256: Digest,
        validated: Validated,
    ) -> Result<(), StoreError> {
        let upload_file = self.open_durable("an upload", part)?;
        let table_file = self.open_durable("a canonical table", canonical)?;
        let expected = validated.canonical_sha256;
        let found = digest(table_file).map_err(StoreError::file(canonical))?;
        if found != expected {
            tracing::error!(%found, %expected, "a canonical table changed after its validation");
            return Err(Refusal::Internal.into());
        }
        // The file that a client can still send to comes last.
        let found = digest(upload_file).map_err(StoreError::file(part))?;
        if found != sha256 {
            tracing::error!(%found, expected = %sha256, "an upload changed after it was received");
            return Err(Refusal::DigestMismatch(found).into());
        }
        let blob = self.folder.blob(sha256);
        let table = self.folder.canonical(validated.canonical_sha256);
        let disk = self.parts.disk.as_ref();
        disk.rename(part, &blob).map_err(StoreError::file(&blob))?;
        disk.rename(canonical, &table).map_err(StoreError::file(&table))?;
        self.parts.crash.at("after_rename");
        for folder in [blob.parent(), table.parent()].into_iter().flatten() {
            self.sync_folder("a folder", folder)?;
        }
        self.parts.crash.at("after_folder_sync");
        Ok(())
    }

    /// Opens a file and makes its content durable.
    fn open_durable(&self, what: &str, path: &Path) -> Result<File, StoreError> {
        let file = open_regular(path).map_err(StoreError::file(path))?;
        let restricted = file.set_permissions(Permissions::from_mode(FILE_MODE));
        restricted.map_err(StoreError::file(path))?;
        self.require_durable(what, path, self.parts.disk.sync_file(path, &file))?;
        Ok(file)
    }
}

fn digest(file: File) -> io::Result<Digest> {
    Digest::of_reader(file).map(|(_, digest)| digest)
}
