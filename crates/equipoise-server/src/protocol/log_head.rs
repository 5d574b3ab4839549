//! The server's word for where an audit log ends: nothing behind the statement can be changed either.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::canonical;
use super::key::{PrivateKey, PublicKey, Signature};
use super::name::Name;

const KIND: &str = "equipoise-log-head 1";

/// The last event of a round's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// The round.
    pub round: Name,
    /// Number of the event.
    pub seq: u64,
    /// Its digest.
    pub chain_head: Digest,
}

/// A log's end with the server's signature: `audit-head.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedLogHead {
    /// What is certified.
    pub head: LogHead,
    /// The server's key.
    pub server_key: PublicKey,
    /// Its signature over the head's canonical form.
    pub signature: Signature,
}

impl LogHead {
    fn to_bytes(&self) -> Vec<u8> {
        canonical::encode(
            KIND,
            &[
                ("round", self.round.to_string()),
                ("seq", self.seq.to_string()),
                ("chain-head", self.chain_head.to_string()),
            ],
        )
    }

    /// The head with a signature.
    pub fn sign(self, key: &PrivateKey) -> SignedLogHead {
        let signature = key.sign(KIND, &self.to_bytes());
        SignedLogHead { head: self, server_key: key.public(), signature }
    }
}

impl SignedLogHead {
    /// Whether the signature is that of the key that the head names.
    pub fn is_sound(&self) -> bool {
        self.server_key.verifies(KIND, &self.head.to_bytes(), &self.signature)
    }
}
