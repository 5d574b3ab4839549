//! The data directory: its lock and its layout.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::private::write_private;
use crate::protocol::{Digest, Manifest, Name, PrivateKey};

/// A data directory, locked by this process.
///
/// ```text
/// lock            held while the process lives
/// equipoise.db    rounds, rosters, submissions, events
/// server.key      signs receipts and statements
/// uploads/        <round>/<client>.<digest>.part.csv: partial uploads
/// sha256/         files from clients, by digest
/// canonical/      canonical tables that the solver reads, by digest
/// rounds/         <round>/root/: the root of each client
/// published/      <round>/: public files
/// ```
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Locks a data directory. Creates it, with a server key, if it does not exist.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        for part in ["", "uploads", "sha256", "canonical", "rounds", "published"] {
            let folder = path.join(part);
            fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        }
        let name = path.join("lock");
        let lock = File::create(&name).map_err(StoreError::file(&name))?;
        lock.try_lock().map_err(|_| StoreError::Locked(path.to_path_buf()))?;
        let folder = Self { path: path.to_path_buf(), _lock: lock };
        if !folder.path.join("server.key").exists() {
            // Creating a new key for existing rounds would hide the loss of the old one.
            if folder.database().exists() {
                return Err(StoreError::Damaged {
                    what: "server.key".into(),
                    problem: "the file is missing".into(),
                });
            }
            let name: Name = "server".parse().map_err(|_| StoreError::Round("server".into()))?;
            let key = PrivateKey::from_seed(name, random_bytes()?);
            write_private(&folder.path.join("server.key"), key.to_line().as_bytes())?;
            let public = folder.path.join("server.pub");
            fs::write(&public, format!("{}\n", key.public())).map_err(StoreError::file(&public))?;
        }
        Ok(folder)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join("equipoise.db")
    }

    pub(super) fn server_key(&self) -> Result<PrivateKey, StoreError> {
        let path = self.path.join("server.key");
        let line = fs::read_to_string(&path).map_err(StoreError::file(&path))?;
        PrivateKey::from_line(&line).map_err(|problem| StoreError::Damaged {
            what: "server.key".into(),
            problem: problem.to_string(),
        })
    }

    /// Folder of partial uploads.
    pub fn uploads(&self, round: &Name) -> PathBuf {
        self.path.join("uploads").join(round.as_str())
    }

    /// A partial upload. Its name contains the digest of the manifest, so manifests that differ in anything, such as
    /// the length, never share a part.
    pub fn part(&self, manifest: &Manifest) -> PathBuf {
        let Manifest { client, media_type, .. } = manifest;
        let digest = Digest::of(&manifest.to_bytes());
        self.uploads(&manifest.round)
            .join(format!("{client}.{digest}.part{}", media_type.extension()))
    }

    /// A file from a client.
    pub fn blob(&self, digest: Digest) -> PathBuf {
        self.path.join("sha256").join(digest.to_string())
    }

    /// A canonical table.
    pub fn canonical(&self, digest: Digest) -> PathBuf {
        self.path.join("canonical").join(format!("{digest}.parquet"))
    }

    /// Folder of roots.
    pub fn roots(&self, round: &Name) -> PathBuf {
        self.path.join("rounds").join(round.as_str()).join("root")
    }

    /// Folder of published files.
    pub fn published(&self, round: &Name) -> PathBuf {
        self.path.join("published").join(round.as_str())
    }

    pub(crate) fn parts_of(&self, round: &Name, client: &Name) -> Vec<PathBuf> {
        // A digest has 64 characters, which tells client `a` from client `a.b`.
        let of_client = |name: &str| {
            name.strip_prefix(client.as_str())
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|rest| rest.len() >= 64 && !rest[..64].contains('.'))
        };
        let Ok(entries) = fs::read_dir(self.uploads(round)) else { return Vec::new() };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(of_client))
            .collect()
    }
}

pub(crate) fn digest_of_file(path: &Path) -> Result<Digest, StoreError> {
    Digest::of_file(path).map(|(_, digest)| digest).map_err(StoreError::file(path))
}

/// Removes a file that may not exist.
pub(crate) fn remove_if_present(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(file = %path.display(), %error, "cannot remove an obsolete file");
    }
}

/// Random bytes from the system.
pub fn random_bytes() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Round(format!("no random numbers are available: {error}")))?;
    Ok(bytes)
}
