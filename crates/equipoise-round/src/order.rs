//! What the coordinator decides, and what is published at the end.

use std::collections::BTreeMap;

use equipoise_data::Digest;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::content::Exclusion;
use crate::document::{Document, Kind};
use crate::invitation::Invitation;
use crate::key::PrivateKey;
use crate::log::Refusal;
use crate::text::Name;

/// A decision of the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// A client counts for nothing, whenever it delivered.
    Revoke {
        /// The client.
        client: Name,
        /// Why.
        reason: String,
    },
    /// No more files are taken.
    Close {
        /// Clients whose late file counts, and why.
        accept_late: BTreeMap<Name, String>,
        /// Whether the mailbox is lost, so that the coordinator closes its own copy.
        from_copy: bool,
    },
    /// A file breaks the rules, so its client does not count.
    Exclude {
        /// The client.
        client: Name,
        /// Why.
        exclusion: Exclusion,
    },
    /// The round ends without a result.
    Abort {
        /// Why.
        reason: String,
    },
    /// The sealed files are deleted.
    Purge {},
}

impl Order {
    /// Signs the order.
    pub fn sign(&self, invitation: &Invitation, coordinator: &PrivateKey) -> Document {
        Document::sign(Kind::Order, invitation.digest, self, coordinator)
    }
}

/// What is published: the digests of everything, by the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Digest of the log's last line before this.
    pub head: Digest,
    /// The writer's receipt of the event that closed the round.
    pub closed: Document,
    /// The published files, without log and statement.
    pub files: BTreeMap<String, FileDigest>,
    /// What each client that counts has sealed.
    pub submissions: BTreeMap<Name, SealedDigests>,
}

/// A file's length and digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Length in bytes.
    pub length: u64,
    /// Its digest.
    pub sha256: Digest,
}

/// The digests of a sealed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedDigests {
    /// Of the ciphertext.
    pub sealed: Digest,
    /// Of the content.
    pub content: Digest,
}

/// The coordinator's request to a mailbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pull {
    /// When it was signed.
    pub at: Timestamp,
    /// The file to send. Without one: the log.
    pub blob: Option<Digest>,
}

/// How long a pull is valid.
const PULL_LIFETIME: SignedDuration = SignedDuration::from_mins(10);

impl Pull {
    /// Signs the request.
    pub fn sign(&self, invitation: &Invitation, coordinator: &PrivateKey) -> Document {
        Document::sign(Kind::Pull, invitation.digest, self, coordinator)
    }

    /// Checks a request.
    pub fn of(
        document: &Document,
        invitation: &Invitation,
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        let pull: Self =
            document.read(Kind::Pull, invitation.digest, &invitation.terms.coordinator)?;
        match now.duration_since(pull.at).abs() <= PULL_LIFETIME {
            true => Ok(pull),
            false => Err(Refusal::Expired),
        }
    }
}
