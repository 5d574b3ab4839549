//! What the server signs: receipts, statements and log heads.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::event::{Event, EventKind};
use super::name::{ClientId, RoundId};

/// Signing and verifying for a document whose `fields` give its canonical form.
macro_rules! signed_document {
    ($document:ident, $signed:ident, $field:ident, $kind:literal) => {
        impl $document {
            fn to_bytes(&self) -> Vec<u8> {
                $crate::protocol::canonical::encode($kind, &self.fields())
            }

            /// Signs the document.
            pub fn sign(self, key: &$crate::protocol::PrivateKey) -> $signed {
                let signature = key.sign($kind, &self.to_bytes());
                $signed { $field: self, server_key: key.public(), signature }
            }
        }

        #[doc = concat!("A [`", stringify!($document), "`] with the server's signature.")]
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $signed {
            /// The document.
            pub $field: $document,
            /// The server's key.
            pub server_key: $crate::protocol::PublicKey,
            /// The signature over the document's canonical form.
            pub signature: $crate::protocol::Signature,
        }

        impl $signed {
            /// Whether `server_key` made the signature.
            pub fn has_valid_signature(&self) -> bool {
                self.server_key.verifies($kind, &self.$field.to_bytes(), &self.signature)
            }
        }
    };
}

pub(super) use signed_document;

signed_document!(Receipt, SignedReceipt, receipt, "equipoise-receipt 2");
signed_document!(Statement, SignedStatement, statement, "equipoise-statement 2");
signed_document!(LogHead, SignedLogHead, head, "equipoise-log-head 2");

/// An accepted submission and its position in the round's audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The server's name, as clients address it.
    pub audience: String,
    /// The round.
    pub round: RoundId,
    /// The client.
    pub client: ClientId,
    /// Digest of the file that the client sent.
    pub sha256: Digest,
    /// Digest of the canonical table that the solver reads.
    pub canonical_sha256: Digest,
    /// Number of rows.
    pub rows: u64,
    /// Number of distinct rows.
    pub distinct_rows: u64,
    /// When the last byte of the file arrived, by the server's clock.
    pub received_at: Timestamp,
    /// Sequence number of the audit event that records the acceptance.
    pub seq: u64,
    /// Digest of that event, which covers all events before it.
    pub chain_head: Digest,
}

impl Receipt {
    /// The receipt for an event with this digest; `None` if the event does not accept a submission.
    pub fn for_event(audience: &str, event: &Event, digest: Digest) -> Option<Self> {
        let EventKind::Accepted {
            client,
            sha256,
            canonical_sha256,
            rows,
            distinct_rows,
            received_at,
        } = &event.kind
        else {
            return None;
        };
        Some(Self {
            audience: audience.to_owned(),
            round: event.round.clone(),
            client: client.clone(),
            sha256: *sha256,
            canonical_sha256: *canonical_sha256,
            rows: *rows,
            distinct_rows: *distinct_rows,
            received_at: *received_at,
            seq: event.seq,
            chain_head: digest,
        })
    }

    /// Whether this is the receipt for an event with this digest.
    pub fn is_for(&self, event: &Event, digest: Digest) -> bool {
        Self::for_event(&self.audience, event, digest).as_ref() == Some(self)
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("audience", self.audience.clone()),
            ("round", self.round.to_string()),
            ("client", self.client.to_string()),
            ("sha256", self.sha256.to_string()),
            ("canonical-sha256", self.canonical_sha256.to_string()),
            ("rows", self.rows.to_string()),
            ("distinct-rows", self.distinct_rows.to_string()),
            ("received-at", self.received_at.to_string()),
            ("seq", self.seq.to_string()),
            ("chain-head", self.chain_head.to_string()),
        ]
    }
}

/// The result of a published round: its files by digest. Signed, it is `statement.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The server's name, as clients address it.
    pub audience: String,
    /// The round.
    pub round: RoundId,
    /// The program that solved the round, such as `equipoise 0.1.0`. Another version may write the same outcome
    /// differently.
    pub program: String,
    /// The published files, sorted by name.
    pub subjects: Vec<Subject>,
    /// Sequence number of the last event before the solve.
    pub seq: u64,
    /// Digest of that event, which makes the log up to there part of the statement.
    pub chain_head: Digest,
}

/// A published file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// File name.
    pub name: String,
    /// Digest of the content.
    pub sha256: Digest,
}

impl Statement {
    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("audience", self.audience.clone()),
            ("round", self.round.to_string()),
            ("program", self.program.clone()),
        ];
        let subjects = self.subjects.iter();
        fields.extend(subjects.map(|s| ("subject", format!("{} {}", s.sha256, s.name))));
        fields.push(("seq", self.seq.to_string()));
        fields.push(("chain-head", self.chain_head.to_string()));
        fields
    }
}

/// The last event of a round's log. Signed, it is `audit-head.json`, which protects the events after the
/// statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// The server's name, as clients address it.
    pub audience: String,
    /// The round.
    pub round: RoundId,
    /// Sequence number of the event.
    pub seq: u64,
    /// Digest of the event.
    pub chain_head: Digest,
    /// When the server signed it.
    pub at: Timestamp,
}

impl LogHead {
    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("audience", self.audience.clone()),
            ("round", self.round.to_string()),
            ("seq", self.seq.to_string()),
            ("chain-head", self.chain_head.to_string()),
            ("at", self.at.to_string()),
        ]
    }
}
