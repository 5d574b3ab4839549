//! The invitation: the terms of a round, signed by the coordinator. Its digest is the round's identity.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use equipoise_data::{Digest, Schema, hex};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Kind, malformed};
use crate::error::{Error, Result};
use crate::key::{Fingerprint, PrivateKey, PublicKey};
use crate::log::Refusal;
use crate::sealed::{MAX_SEALED, SealingPublicKey};
use crate::text::Name;

/// The only format so far.
const FORMAT: u32 = 1;

/// What the coordinator proposes. `settings` and `requirements` belong to the solver; nothing here interprets them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Version of the format; 1.
    pub format: u32,
    /// The round's name.
    pub name: Name,
    /// When the invitation was written: also the time of the log's first event.
    pub issued_at: Timestamp,
    /// The coordinator's key.
    pub coordinator: PublicKey,
    /// The schema, as TOML.
    pub schema: String,
    /// The fairness criterion.
    pub criterion: String,
    /// What the model must achieve.
    pub requirements: serde_json::Value,
    /// The solver's settings.
    pub settings: serde_json::Value,
    /// Minimum number of clients that count.
    pub minimum: u64,
    /// The clients and their keys.
    pub roster: BTreeMap<Name, PublicKey>,
    /// Files that arrive later are marked late.
    pub deadline: Timestamp,
    /// Maximum length of a ciphertext in bytes.
    pub max_bytes: u64,
    /// The key that files are sealed to. This round's only.
    pub sealing_key: SealingPublicKey,
    /// The mailbox, if there is one.
    pub mailbox: Option<Mailbox>,
    /// The trusted sample, as [`TrustedSample::commitment`] gives it.
    pub trusted_sha256: Digest,
}

/// Where files are delivered over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mailbox {
    /// Its address, `https://` and a host.
    pub address: String,
    /// Its key.
    pub key: PublicKey,
}

/// A checked invitation.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// What it says.
    pub terms: Terms,
    /// Its digest: the audience of every document of the round.
    pub digest: Digest,
    /// The schema in it.
    pub schema: Schema,
    /// The document, as signed.
    pub document: Document,
}

impl Invitation {
    /// Signs an invitation.
    pub fn sign(terms: Terms, key: &PrivateKey) -> Result<Self> {
        let document = Document::sign(Kind::Invitation, Digest::ZERO, &terms, key);
        Ok(Self::of(document)?)
    }

    /// Checks an invitation. That its key is the coordinator's is for the caller to check: see
    /// [`check_coordinator`](Self::check_coordinator).
    pub fn of(document: Document) -> Result<Self, Refusal> {
        let digest = document.digest();
        let claimed: Terms = document.peek()?;
        let terms: Terms = document.read(Kind::Invitation, digest, &claimed.coordinator)?;
        let schema = check(&terms)?;
        Ok(Self { terms, digest, schema, document })
    }

    /// Reads an invitation, which must be signed by the coordinator with this fingerprint.
    pub fn read(file: &Path, coordinator: &Fingerprint) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(Error::io(file))?;
        let document = text.parse().map_err(|problem| Error::file(file, problem))?;
        let invitation = Self::of(document).map_err(|refusal| Error::file(file, refusal))?;
        invitation.check_coordinator(coordinator).map_err(|refusal| Error::file(file, refusal))?;
        Ok(invitation)
    }

    /// Checks that the coordinator's key has this fingerprint.
    pub fn check_coordinator(&self, expected: &Fingerprint) -> Result<(), Refusal> {
        let found = self.terms.coordinator.fingerprint();
        match found == *expected {
            true => Ok(()),
            false => Err(Refusal::OtherCoordinator(found.to_string())),
        }
    }

    /// The names of a table's columns: encoded features, group, label.
    pub fn columns(&self) -> Vec<String> {
        let mut columns = self.schema.encoded_names();
        columns.push(self.schema.sensitive.column_name());
        columns.push(self.schema.label.column.clone());
        columns
    }
}

fn check(terms: &Terms) -> Result<Schema, Refusal> {
    let refuse = |problem: &str| Err(Refusal::Malformed(format!("the invitation {problem}")));
    if terms.format != FORMAT {
        return refuse("has a format that this version does not know. Install a newer one");
    }
    if terms.roster.is_empty() || terms.minimum == 0 || terms.minimum > terms.roster.len() as u64 {
        return refuse("has a minimum that is not between 1 and the number of clients");
    }
    let mut keys = BTreeSet::from([terms.coordinator.to_string()]);
    keys.extend(terms.mailbox.iter().map(|mailbox| mailbox.key.to_string()));
    let others = keys.len();
    keys.extend(terms.roster.values().map(PublicKey::to_string));
    if keys.len() != others + terms.roster.len()
        || others != 1 + usize::from(terms.mailbox.is_some())
    {
        return refuse("lists one key twice. Everyone needs a key of their own");
    }
    if !(1..=MAX_SEALED).contains(&terms.max_bytes) {
        return refuse("has a size limit that is not between 1 byte and 64 MiB");
    }
    if terms.deadline <= terms.issued_at {
        return refuse("has a deadline that had passed when it was written");
    }
    Schema::from_toml(&terms.schema, Path::new("schema in the invitation"))
        .map_err(|error| malformed("the invitation", &error))
}

/// Which files the trusted sample has, and the secret that keeps their commitment from being guessed. For the
/// coordinator and an auditor only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedSample {
    /// 32 random bytes in hex.
    pub secret: String,
    /// The digest of each client's file.
    pub files: BTreeMap<Name, Digest>,
}

impl TrustedSample {
    /// With a new secret.
    pub fn new(files: BTreeMap<Name, Digest>) -> std::io::Result<Self> {
        Ok(Self { secret: hex(&crate::key::random_bytes::<32>()?), files })
    }

    /// The digest in the invitation: of the secret, then a line `client digest` for each file, in order of the names.
    pub fn commitment(&self) -> Digest {
        let lines = self.files.iter().map(|(client, digest)| format!("{client} {digest}\n"));
        Digest::of(format!("{}\n{}", self.secret, lines.collect::<String>()).as_bytes())
    }
}
