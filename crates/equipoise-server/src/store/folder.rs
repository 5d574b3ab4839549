//! The data directory: its locks and the paths in it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::StoreError;
use super::layout;
use super::private::{create_private_folder, open_lock, open_regular, write_private};
use crate::protocol::{ClientId, Digest, Manifest, PrivateKey, RoundId};

/// How long to wait for another process that is starting on the directory or committing a round.
const SETUP_TIMEOUT: Duration = Duration::from_secs(120);
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// A data directory, locked by this process or joined while another process holds the lock.
///
/// ```text
/// lock            held by the server while it runs
/// setup.lock      held while a server starts and while a round is committed
/// equipoise.db    rounds, rosters, submissions, events
/// server.key      signs receipts and statements
/// server.pub      verifies them
/// uploads/        <round>/<client>.<digest>.part.csv: partial uploads
/// sha256/         files from clients, by digest
/// canonical/      canonical tables that the solver reads, by digest
/// rounds/         <round>/root/: the root of each client; .new-*: a round that is being set up
/// published/      <round>/: public files; .<round>: a running solve
/// ```
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    /// None if another process holds it.
    lock: Option<File>,
}

/// Serialises the setup of rounds among processes. Released when dropped.
#[derive(Debug)]
pub(super) struct SetupLock {
    _file: File,
}

impl DataFolder {
    /// Locks a data directory. Creates it, with a server key, if it does not exist.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        layout::create(path)?;
        let lock = open_lock(&path.join("lock"))?;
        lock.try_lock().map_err(|_| StoreError::Locked(path.to_path_buf()))?;
        let folder = Self { path: path.to_path_buf(), lock: Some(lock) };
        folder.create_server_key()?;
        layout::secure(path)?;
        Ok(folder)
    }

    /// Locks a data directory, or joins the server that is running on it. A process that joined may set up rounds, and
    /// must leave everything else to the server.
    pub fn open_or_join(path: &Path) -> Result<Self, StoreError> {
        let started = Instant::now();
        loop {
            match Self::open(path) {
                Err(StoreError::Locked(_)) => {}
                opened => return opened,
            }
            let folder = Self { path: path.to_path_buf(), lock: None };
            // The other process creates the key before the database.
            if folder.database().exists() {
                return Ok(folder);
            }
            if started.elapsed() > SETUP_TIMEOUT {
                return Err(StoreError::Locked(path.to_path_buf()));
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Whether another process holds the lock.
    pub(super) fn is_joined(&self) -> bool {
        self.lock.is_none()
    }

    /// Waits for other processes that set up rounds.
    pub(super) fn lock_setup(&self) -> Result<SetupLock, StoreError> {
        let file = open_lock(&self.path.join("setup.lock"))?;
        let started = Instant::now();
        while file.try_lock().is_err() {
            if started.elapsed() > SETUP_TIMEOUT {
                return Err(StoreError::SetupLocked(self.path.clone()));
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
        Ok(SetupLock { _file: file })
    }

    fn create_server_key(&self) -> Result<(), StoreError> {
        if self.path.join("server.key").exists() {
            return Ok(());
        }
        // Creating a new key for existing rounds would hide the loss of the old one.
        if self.database().exists() {
            return Err(StoreError::Damaged {
                what: "server.key".into(),
                problem: "the file is missing".into(),
            });
        }
        let name: ClientId = "server".parse().map_err(|_| StoreError::Round("server".into()))?;
        let key = PrivateKey::from_seed(name, random_bytes()?);
        // The private key comes last: without it, an interrupted setup starts again.
        let public = self.path.join("server.pub");
        remove_if_present(&public);
        write_private(&public, format!("{}\n", key.public()).as_bytes())?;
        write_private(&self.path.join("server.key"), key.to_line().as_bytes())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join("equipoise.db")
    }

    pub(super) fn server_key(&self) -> Result<PrivateKey, StoreError> {
        let line = self.read_text("server.key")?;
        PrivateKey::from_line(&line).map_err(|problem| StoreError::Damaged {
            what: "server.key".into(),
            problem: problem.to_string(),
        })
    }

    /// The public key for clients, as a line of text.
    pub(super) fn public_key(&self) -> Result<String, StoreError> {
        self.read_text("server.pub")
    }

    fn read_text(&self, name: &str) -> Result<String, StoreError> {
        let path = self.path.join(name);
        let mut text = String::new();
        let read = open_regular(&path).and_then(|mut file| file.read_to_string(&mut text));
        match read {
            Ok(_) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::Damaged {
                what: name.to_owned(),
                problem: "the file is missing".into(),
            }),
            Err(error) => Err(StoreError::file(path)(error)),
        }
    }

    /// Folder of partial uploads.
    pub fn uploads(&self, round: &RoundId) -> PathBuf {
        self.path.join("uploads").join(round.as_str())
    }

    /// Creates the folder of partial uploads, unless it exists.
    pub(crate) fn create_uploads(&self, round: &RoundId) -> Result<(), StoreError> {
        create_private_folder(&self.uploads(round))
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
    pub fn roots(&self, round: &RoundId) -> PathBuf {
        self.path.join("rounds").join(round.as_str()).join("root")
    }

    /// Folder of published files.
    pub fn published(&self, round: &RoundId) -> PathBuf {
        self.path.join("published").join(round.as_str())
    }

    pub(crate) fn parts_of(&self, round: &RoundId, client: &ClientId) -> Vec<PathBuf> {
        // A digest has 64 characters, which tells client `a` from client `a.b`.
        let of_client = |name: &str| {
            name.strip_prefix(client.as_str())
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.get(..64))
                .is_some_and(|digest| !digest.contains('.'))
        };
        let folder = self.uploads(round);
        // What a link points to is not ours to remove.
        if folder.is_symlink() {
            return Vec::new();
        }
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(of_client))
            .collect()
    }
}

/// The digest of a regular file.
pub(crate) fn digest_of_file(path: &Path) -> Result<Digest, StoreError> {
    let read = open_regular(path).and_then(Digest::of_reader);
    read.map(|(_, digest)| digest).map_err(StoreError::file(path))
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
