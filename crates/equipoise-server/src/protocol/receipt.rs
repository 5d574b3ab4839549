//! What the server signs when it has accepted a submission for good.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::canonical;
use super::key::{PrivateKey, PublicKey, Signature};
use super::name::Name;

const KIND: &str = "equipoise-receipt 1";

/// An accepted submission, and where it stands in the round's audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The round.
    pub round: Name,
    /// The client.
    pub client: Name,
    /// Digest of the file that the client sent.
    pub sha256: Digest,
    /// Rows of the file.
    pub rows: u64,
    /// Different rows among them.
    pub distinct_rows: u64,
    /// Number of the log's event that tells of the acceptance.
    pub seq: u64,
    /// Digest of that event, and by it of all before: the head of the chain at that time.
    pub chain_head: Digest,
}

/// A receipt with the server's signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedReceipt {
    /// What is certified.
    pub receipt: Receipt,
    /// The server's key.
    pub server_key: PublicKey,
    /// Its signature over the receipt's canonical form.
    pub signature: Signature,
}

impl Receipt {
    fn to_bytes(&self) -> Vec<u8> {
        canonical::encode(
            KIND,
            &[
                ("round", self.round.to_string()),
                ("client", self.client.to_string()),
                ("sha256", self.sha256.to_string()),
                ("rows", self.rows.to_string()),
                ("distinct-rows", self.distinct_rows.to_string()),
                ("seq", self.seq.to_string()),
                ("chain-head", self.chain_head.to_string()),
            ],
        )
    }

    /// The receipt with a signature.
    pub fn sign(self, key: &PrivateKey) -> SignedReceipt {
        let signature = key.sign(KIND, &self.to_bytes());
        SignedReceipt { receipt: self, server_key: key.public(), signature }
    }
}

impl SignedReceipt {
    /// Whether the signature is that of the key that the receipt names.
    pub fn is_sound(&self) -> bool {
        self.server_key.verifies(KIND, &self.receipt.to_bytes(), &self.signature)
    }
}
