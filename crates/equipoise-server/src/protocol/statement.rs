//! The one signed statement of a published round: these files, by their digests, are its result.

use serde::{Deserialize, Serialize};

use super::Digest;
use super::canonical;
use super::key::{PrivateKey, PublicKey, Signature};
use super::name::Name;

const KIND: &str = "equipoise-statement 1";

/// A published file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Its digest.
    pub sha256: Digest,
}

/// What the server says about a round that it has published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The server, as clients address it.
    pub audience: String,
    /// The round.
    pub round: Name,
    /// The files, sorted by name.
    pub subjects: Vec<Subject>,
    /// Number of the last event before the solve.
    pub seq: u64,
    /// Digest of that event: the log up to there is part of the statement.
    pub chain_head: Digest,
}

/// A statement with the server's signature: `statement.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedStatement {
    /// What is stated.
    pub statement: Statement,
    /// The server's key.
    pub server_key: PublicKey,
    /// Its signature over the statement's canonical form.
    pub signature: Signature,
}

impl Statement {
    fn to_bytes(&self) -> Vec<u8> {
        let mut fields =
            vec![("audience", self.audience.clone()), ("round", self.round.to_string())];
        let subjects = self.subjects.iter();
        fields.extend(subjects.map(|s| ("subject", format!("{} {}", s.sha256, s.name))));
        fields.push(("seq", self.seq.to_string()));
        fields.push(("chain-head", self.chain_head.to_string()));
        canonical::encode(KIND, &fields)
    }

    /// The statement with a signature.
    pub fn sign(self, key: &PrivateKey) -> SignedStatement {
        let signature = key.sign(KIND, &self.to_bytes());
        SignedStatement { statement: self, server_key: key.public(), signature }
    }
}

impl SignedStatement {
    /// Whether the signature is that of the key that the statement names.
    pub fn is_sound(&self) -> bool {
        self.server_key.verifies(KIND, &self.statement.to_bytes(), &self.signature)
    }

    /// Digest that the statement gives for a file.
    pub fn digest_of(&self, name: &str) -> Option<Digest> {
        self.statement.subjects.iter().find(|s| s.name == name).map(|s| s.sha256)
    }
}
