//! The rounds in a folder, and the mailbox's key.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use equipoise_data::Digest;
use equipoise_round::{
    Document, Error, Invitation, Name, PrivateKey, PublicKey, Refusal, Result, RoundFile,
};

use crate::answer::Failure;

const KEY_FILE: &str = "mailbox.key";
const PUBLIC_FILE: &str = "mailbox.pub";

/// All rounds of a mailbox.
#[derive(Debug)]
pub struct Rounds {
    folder: PathBuf,
    key: PrivateKey,
    coordinator: PublicKey,
    rounds: RwLock<HashMap<Digest, Arc<Slot>>>,
}

/// A round, or the problem with its file.
#[derive(Debug)]
pub(crate) struct Slot {
    round: Mutex<Result<RoundFile, String>>,
    /// One upload at a time for each client.
    turns: Mutex<HashMap<Name, Arc<tokio::sync::Mutex<()>>>>,
}

/// The mailbox's key. The first time it makes one, with a public file that has the mailbox's address.
pub fn open_key(folder: &Path, address: &str) -> Result<PrivateKey> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(Error::io(folder))?;
    let file = folder.join(KEY_FILE);
    if !file.exists() {
        PrivateKey::random().map_err(Error::io(&file))?.write(&file, address)?;
    }
    let (key, _) = PrivateKey::read(&file)?;
    let public = folder.join(PUBLIC_FILE);
    fs::write(&public, key.public().to_line(address)).map_err(Error::io(&public))?;
    Ok(key)
}

impl Rounds {
    /// Opens and checks every round in the folder. A damaged one does not stop the others.
    pub fn open(folder: &Path, key: PrivateKey, coordinator: PublicKey) -> Result<Self> {
        let mut rounds = HashMap::new();
        for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
            let path = entry.map_err(Error::io(folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let digest = name.strip_suffix(".round").and_then(|name| name.parse().ok());
            let Some(digest) = digest else { continue };
            let round = RoundFile::open(&path).and_then(|round| same(round, digest));
            if let Err(error) = &round {
                tracing::error!(%error, "a round cannot be served; the others can");
            }
            rounds.insert(digest, Arc::new(Slot::new(round.map_err(|error| error.to_string()))));
        }
        let rounds = RwLock::new(rounds);
        Ok(Self { folder: folder.to_path_buf(), key, coordinator, rounds })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn key(&self) -> &PrivateKey {
        &self.key
    }

    pub(crate) fn get(&self, digest: Digest) -> Option<Arc<Slot>> {
        self.rounds.read().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }

    /// How many rounds there are, and how many of them are damaged.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let rounds = self.rounds.read().unwrap_or_else(PoisonError::into_inner);
        (rounds.len(), rounds.values().filter(|slot| slot.is_damaged()).count())
    }

    /// Takes a new round, from the coordinator that this mailbox serves. The same invitation again gets the same
    /// receipt.
    pub(crate) fn install(&self, digest: Digest, document: Document) -> Result<Document, Failure> {
        let invitation = Invitation::of(document)?;
        let mailbox = invitation.terms.mailbox.as_ref();
        let is_ours = invitation.digest == digest
            && invitation.terms.coordinator == self.coordinator
            && mailbox.is_some_and(|mailbox| mailbox.key == self.key.public());
        if !is_ours {
            return Err(Failure::NotAccepted);
        }
        let mut rounds = self.rounds.write().unwrap_or_else(PoisonError::into_inner);
        let slot = match rounds.entry(digest) {
            Entry::Occupied(found) => Arc::clone(found.get()),
            Entry::Vacant(new) => {
                let path = self.folder.join(format!("{digest}.round"));
                let round = RoundFile::create(&path, &invitation)?;
                tracing::info!(round = %digest, "new round");
                Arc::clone(new.insert(Arc::new(Slot::new(Ok(round)))))
            }
        };
        drop(rounds);
        slot.with(|round| Ok(round.receipt(1, &self.key)?))
    }
}

impl Slot {
    fn new(round: Result<RoundFile, String>) -> Self {
        Self { round: Mutex::new(round), turns: Mutex::default() }
    }

    /// Does something with the round. It may wait for the disk.
    pub(crate) fn with<T>(
        &self,
        act: impl FnOnce(&mut RoundFile) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &mut *self.round.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(round) => act(round),
            Err(problem) => {
                Err(Error::Damaged { file: PathBuf::new(), problem: problem.clone() }.into())
            }
        }
    }

    /// What lets one upload of a client wait for another.
    pub(crate) fn turn(&self, client: &Name) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(client.clone()).or_default())
    }

    fn is_damaged(&self) -> bool {
        self.round.lock().unwrap_or_else(PoisonError::into_inner).is_err()
    }
}

/// A round must have the name of its invitation.
fn same(round: RoundFile, digest: Digest) -> Result<RoundFile> {
    let expected = round.log().invitation.digest;
    match expected == digest {
        true => Ok(round),
        false => Err(Refusal::OtherRound(digest, expected).into()),
    }
}
