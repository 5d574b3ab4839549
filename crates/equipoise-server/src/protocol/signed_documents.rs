//! What the server signs: receipts, statements and log heads.

use serde::{Deserialize, Serialize};

use super::key::{PrivateKey, PublicKey, Signature};
use super::name::Name;
use super::{Digest, canonical};

/// Signing and verifying for a document whose `fields` give its canonical form.
macro_rules! signed_document {
    ($document:ident, $signed:ident, $field:ident, $kind:literal) => {
        impl $document {
            fn to_bytes(&self) -> Vec<u8> {
                canonical::encode($kind, &self.fields())
            }

            /// Signs the document.
            pub fn sign(self, key: &PrivateKey) -> $signed {
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
            pub server_key: PublicKey,
            /// The signature over the document's canonical form.
            pub signature: Signature,
        }

        impl $signed {
            /// Whether `server_key` made the signature.
            pub fn has_valid_signature(&self) -> bool {
                self.server_key.verifies($kind, &self.$field.to_bytes(), &self.signature)
            }
        }
    };
}

signed_document!(Receipt, SignedReceipt, receipt, "equipoise-receipt 1");
signed_document!(Statement, SignedStatement, statement, "equipoise-statement 1");
signed_document!(LogHead, SignedLogHead, head, "equipoise-log-head 1");

/// An accepted submission and its position in the round's audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The round.
    pub round: Name,
    /// The client.
    pub client: Name,
    /// Digest of the file that the client sent.
    pub sha256: Digest,
    /// Number of rows.
    pub rows: u64,
    /// Number of distinct rows.
    pub distinct_rows: u64,
    /// Sequence number of the audit event that records the acceptance.
    pub seq: u64,
    /// Digest of that event, which covers all events before it.
    pub chain_head: Digest,
}

impl Receipt {
    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round", self.round.to_string()),
            ("client", self.client.to_string()),
            ("sha256", self.sha256.to_string()),
            ("rows", self.rows.to_string()),
            ("distinct-rows", self.distinct_rows.to_string()),
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
    pub round: Name,
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
        let mut fields =
            vec![("audience", self.audience.clone()), ("round", self.round.to_string())];
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
    /// The round.
    pub round: Name,
    /// Sequence number of the event.
    pub seq: u64,
    /// Digest of the event.
    pub chain_head: Digest,
}

impl LogHead {
    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round", self.round.to_string()),
            ("seq", self.seq.to_string()),
            ("chain-head", self.chain_head.to_string()),
        ]
    }
}
