//! The server-wide log: one entry for every event of every round, in a hash chain of its own.
//!
//! An entry contains the name of the round and the digest of the event, never the name of a client, so the log is
//! public while rounds are running. The signed head of this log commits the server to the logs of all its rounds. Clients
//! that compare their heads notice if the server shows them different histories.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::event::ChainError;
use super::key::{PublicKey, Signature};
use super::name::RoundId;
use super::signed_documents::signed_document;

/// Maximum number of entries in one reply of `GET /v1/log`.
pub const SERVER_LOG_PAGE: u64 = 10_000;

/// One entry of the server-wide log. Its digest is the SHA-256 of [`ServerLogEntry::to_line`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerLogEntry {
    /// Number of the entry, from 1.
    pub n: u64,
    /// Digest of the previous entry; 64 zeros in the first one.
    pub previous: Digest,
    /// The round.
    pub round: RoundId,
    /// Number of the event in the log of its round.
    pub seq: u64,
    /// Digest of the event.
    pub event: Digest,
}

impl ServerLogEntry {
    /// The entry as a line of the log, without a line break.
    pub fn to_line(&self) -> String {
        // Expect safety: only strings and numbers.
        serde_json::to_string(self).expect("an entry is plain data")
    }

    /// The digest of the entry.
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_line().as_bytes())
    }
}

/// The end of the server-wide log and of the log of each round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerHead {
    /// Number of entries.
    pub n: u64,
    /// Digest of the last entry; 64 zeros if there is none.
    pub head: Digest,
    /// When the server signed it.
    pub at: Timestamp,
    /// The last event of every round, sorted by round.
    pub rounds: Vec<RoundHead>,
}

/// The last event of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundHead {
    /// The round.
    pub round: RoundId,
    /// Number of the event.
    pub seq: u64,
    /// Digest of the event.
    pub chain_head: Digest,
}

signed_document!(ServerHead, SignedServerHead, head, "equipoise-server-head 1");

impl ServerHead {
    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("n", self.n.to_string()),
            ("head", self.head.to_string()),
            ("at", self.at.to_string()),
        ];
        let rounds = self.rounds.iter();
        fields.extend(rounds.map(|r| ("round", format!("{} {} {}", r.seq, r.chain_head, r.round))));
        fields
    }
}

/// A signed head with the log that it signs, as clients exchange it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerLogFile {
    /// The head.
    pub head: ServerHead,
    /// The server's key.
    pub server_key: PublicKey,
    /// The signature over the head.
    pub signature: Signature,
    /// All entries.
    pub log: Vec<ServerLogEntry>,
}

impl ServerLogFile {
    /// Puts a head and its log together, if the signature is valid and the head is the one of this log.
    pub fn new(signed: SignedServerHead, log: Vec<ServerLogEntry>) -> Result<Self, String> {
        let SignedServerHead { head, server_key, signature } = signed;
        let file = Self { head, server_key, signature, log };
        file.check().map(|()| file)
    }

    /// The head without the log.
    pub fn signed_head(&self) -> SignedServerHead {
        let Self { head, server_key, signature, .. } = self.clone();
        SignedServerHead { head, server_key, signature }
    }

    /// Checks the signature, the chain of entries, and that the head is the end of this chain.
    pub fn check(&self) -> Result<(), String> {
        if !self.signed_head().has_valid_signature() {
            return Err("the signature of the head is invalid".into());
        }
        verify_server_log(&self.log).map_err(|error| error.to_string())?;
        let last = self.log.last().map_or(Digest::ZERO, ServerLogEntry::digest);
        if (self.head.n, self.head.head) != (self.log.len() as u64, last) {
            return Err("the signed head is not the end of the log".into());
        }
        if self.head.rounds != round_heads(&self.log) {
            return Err("the rounds in the signed head differ from the log".into());
        }
        Ok(())
    }
}

/// Verifies a whole server-wide log: numbers, digests, and that the events of each round are in order, without gaps.
pub fn verify_server_log(entries: &[ServerLogEntry]) -> Result<(), ChainError> {
    let mut previous = Digest::ZERO;
    let mut seqs: BTreeMap<&RoundId, u64> = BTreeMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let broken = |problem: String| ChainError { log: "server-wide log", line: i + 1, problem };
        if entry.n != i as u64 + 1 {
            return Err(broken(format!("has the number {}", entry.n)));
        }
        if entry.previous != previous {
            return Err(broken("does not contain the digest of the line before it".into()));
        }
        let seq = seqs.entry(&entry.round).or_default();
        *seq += 1;
        if entry.seq != *seq {
            let (found, expected) = (entry.seq, *seq);
            let problem = format!("is event {found} of round `{}`, not {expected}", entry.round);
            return Err(broken(problem));
        }
        previous = entry.digest();
    }
    Ok(())
}

/// The last event of each round in a valid log.
fn round_heads(entries: &[ServerLogEntry]) -> Vec<RoundHead> {
    let last: BTreeMap<&RoundId, &ServerLogEntry> =
        entries.iter().map(|entry| (&entry.round, entry)).collect();
    last.into_iter()
        .map(|(round, entry)| RoundHead {
            round: round.clone(),
            seq: entry.seq,
            chain_head: entry.event,
        })
        .collect()
}
