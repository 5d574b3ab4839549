//! The data directory: who may use it, and what lies where.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::StoreError;
use crate::protocol::{Digest, Manifest, Name, PrivateKey};

/// A data directory that this process alone has.
///
/// ```text
/// lock            held while the process lives
/// equipoise.db    rounds, rosters, submissions, events
/// server.key      signs receipts and statements
/// uploads/        <round>/<client>.<digest>.part.csv: files on their way
/// sha256/         what clients sent, by digest
/// canonical/      the checked tables that the solver reads, by digest
/// rounds/         <round>/root: a folder, the root of each client
/// published/      <round>/: what everyone may read
/// ```
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Locks a data directory; makes it, and a server key in it, if it is not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        for part in ["", "uploads", "sha256", "canonical", "rounds", "published"] {
            let folder = path.join(part);
            fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        }
        let name = path.join("lock");
        let lock = File::create(&name).map_err(StoreError::file(&name))?;
        lock.try_lock().map_err(|_| StoreError::Locked { folder: path.to_path_buf() })?;
        let folder = Self { path: path.to_path_buf(), _lock: lock };
        if !folder.path.join("server.key").exists() {
            // A new key beside old rounds would only hide that theirs is lost.
            if folder.database().exists() {
                return Err(StoreError::Damaged {
                    what: "server.key".into(),
                    problem: "it is not there".into(),
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

    /// The directory itself.
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

    /// Where files on their way are.
    pub fn uploads(&self, round: &Name) -> PathBuf {
        self.path.join("uploads").join(round.as_str())
    }

    /// A file on its way.
    pub fn part(&self, manifest: &Manifest) -> PathBuf {
        let Manifest { client, sha256, media_type, .. } = manifest;
        self.uploads(&manifest.round)
            .join(format!("{client}.{sha256}.part{}", media_type.extension()))
    }

    /// What a client sent.
    pub fn blob(&self, digest: Digest) -> PathBuf {
        self.path.join("sha256").join(digest.to_string())
    }

    /// A checked table.
    pub fn canonical(&self, digest: Digest) -> PathBuf {
        self.path.join("canonical").join(format!("{digest}.parquet"))
    }

    /// The roots of a round.
    pub fn roots(&self, round: &Name) -> PathBuf {
        self.path.join("rounds").join(round.as_str()).join("root")
    }

    /// What everyone may read of a round.
    pub fn published(&self, round: &Name) -> PathBuf {
        self.path.join("published").join(round.as_str())
    }

    /// The files of a client on their way.
    pub(crate) fn parts_of(&self, round: &Name, client: &Name) -> Vec<PathBuf> {
        // A digest has 64 letters: `a.b` is no part of client `a`.
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

/// Digest of a file.
pub(crate) fn digest_of_file(path: &Path) -> Result<Digest, StoreError> {
    Digest::of_file(path).map(|(_, digest)| digest).map_err(StoreError::file(path))
}

/// Removes a file that may not be there.
pub(crate) fn remove_if_there(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(file = %path.display(), %error, "a file that is not needed could not be removed");
    }
}

/// Random bytes from the system.
pub fn random_bytes() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        StoreError::Round(format!("the system gives no random numbers: {error}"))
    })?;
    Ok(bytes)
}

/// Writes a file that only its owner may read, and never over another one.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = open.map_err(StoreError::file(path))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(StoreError::file(path))
}
