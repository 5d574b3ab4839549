//! The audit log: one line of JSON per event, each containing the digest of the previous line.
//!
//! The digest of an event is the SHA-256 of its line, without the line break. Changing, dropping or adding a
//! line breaks the chain there. Rewriting every later line as well gives a different head from the one in the
//! signed receipts and statement.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::PublicKey;
use super::name::{ClientId, RoundId};
use super::round_info::RoundState;

/// One event of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Sequence number, from 1.
    pub seq: u64,
    /// Digest of the previous line; 64 zeros in the first event.
    pub previous: Digest,
    /// Time of the event, by the server's clock. It never goes back.
    pub at: Timestamp,
    /// The round.
    pub round: RoundId,
    /// A random value. The digest of an event is public before the event itself, and must not let anyone guess the
    /// content.
    pub salt: Digest,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The round was set up.
    Created {
        /// Digest of the round's specification: schema, settings, limits, deadline.
        spec_sha256: Digest,
        /// Digest of the schema.
        schema_sha256: Digest,
        /// The key that signs receipts and the statement.
        server_key: Box<PublicKey>,
        /// The clients. Fixed from here on.
        roster: Vec<PublicKey>,
        /// Digest of the coordinator's token digest, both in hex, to detect a changed token.
        token_check: Digest,
    },
    /// The round accepts submissions from now on.
    Opened,
    /// A submission was accepted.
    Accepted {
        /// The client.
        client: ClientId,
        /// Digest of the file that it sent.
        sha256: Digest,
        /// Digest of the canonical table that the solver reads.
        canonical_sha256: Digest,
        /// Number of rows.
        rows: u64,
        /// Number of distinct rows.
        distinct_rows: u64,
        /// When the last byte of the file arrived. The event itself follows validation.
        received_at: Timestamp,
    },
    /// A client's key was revoked. An earlier submission stays.
    KeyRevoked {
        /// The client.
        client: ClientId,
    },
    /// The set of submissions is final.
    Closed {
        /// Why.
        by: CloseReason,
        /// Digest of the submission list.
        submissions_sha256: Digest,
        /// Number of submissions.
        n_submissions: u64,
        /// Clients that did not submit.
        absent: Vec<ClientId>,
    },
    /// The solve began.
    Solving,
    /// Model, outcome and statement are public.
    Published {
        /// Digest of `statement.json`.
        statement_sha256: Digest,
        /// Duration of the solve.
        solve_seconds: f64,
    },
    /// The round ended without a model.
    Failed {
        /// Why.
        reason: String,
    },
    /// The coordinator aborted the round.
    Aborted {
        /// Why.
        reason: String,
    },
}

/// Why a round closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// The coordinator closed it.
    Command,
    /// The deadline has passed.
    Deadline,
    /// No client can still submit: each has submitted or its key is revoked.
    FullRoster,
}

impl EventKind {
    /// The event's name, in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Opened => "opened",
            Self::Accepted { .. } => "accepted",
            Self::KeyRevoked { .. } => "key revoked",
            Self::Closed { .. } => "closed",
            Self::Solving => "solving",
            Self::Published { .. } => "published",
            Self::Failed { .. } => "failed",
            Self::Aborted { .. } => "aborted",
        }
    }

    /// The state of a round after this event.
    pub fn state_after(&self, before: RoundState) -> RoundState {
        match self {
            Self::Created { .. } => RoundState::Draft,
            Self::Opened => RoundState::Open,
            Self::Accepted { .. } | Self::KeyRevoked { .. } => before,
            Self::Closed { .. } => RoundState::Closed,
            Self::Solving => RoundState::Solving,
            Self::Published { .. } => RoundState::Published,
            Self::Failed { .. } => RoundState::Failed,
            Self::Aborted { .. } => RoundState::Aborted,
        }
    }

    /// Why the round ended without a model.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } | Self::Aborted { reason } => Some(reason),
            _ => None,
        }
    }
}

/// A broken chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the {log} {problem}")]
pub struct ChainError {
    /// Which log.
    pub log: &'static str,
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Event {
    /// The event as a line of the log, without a line break.
    pub fn to_line(&self) -> String {
        // Expect safety: only strings, finite numbers and lists of them.
        serde_json::to_string(self).expect("an event is plain data")
    }
}

/// Verifies a log from its first line, and returns the events with their digests.
pub fn verify_chain<'a>(
    lines: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<(Event, Digest)>, ChainError> {
    let mut events: Vec<(Event, Digest)> = Vec::new();
    for (i, text) in lines.into_iter().enumerate() {
        let broken = |problem: String| ChainError { log: "audit log", line: i + 1, problem };
        let event: Event = serde_json::from_str(text)
            .map_err(|error| broken(format!("is not an event: {error}")))?;
        let previous = events.last().map_or(Digest::ZERO, |(_, digest)| *digest);
        if event.seq != i as u64 + 1 {
            return Err(broken(format!("has sequence number {}, not {}", event.seq, i + 1)));
        }
        if event.previous != previous {
            return Err(broken("does not contain the digest of the line before it".into()));
        }
        events.push((event, Digest::of(text.as_bytes())));
    }
    Ok(events)
}
