//! The audit log: one line of JSON per event, each holding the digest of the line before it.
//!
//! The digest of an event is the SHA-256 of its line, without the line break. Whoever changes, drops or
//! adds a line breaks the chain there; whoever rewrites all lines behind it gives another head than the one
//! that receipts and statement were signed over.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::PublicKey;
use super::name::Name;

/// One event of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Number, from 1.
    pub seq: u64,
    /// Digest of the line before; 64 zeros in the first.
    pub previous: Digest,
    /// When it happened, by the server's clock.
    pub at: Timestamp,
    /// The round.
    pub round: Name,
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
        /// Digest of what the round is: schema, settings, limits, deadline.
        spec_sha256: Digest,
        /// Digest of the schema.
        schema_sha256: Digest,
        /// The key that signs receipts and statement.
        server_key: Box<PublicKey>,
        /// Who takes part. Fixed from here on.
        roster: Vec<PublicKey>,
        /// Digest of the digest of the coordinator's token, each in hex: enough to see that the stored one is as it
        /// was. Rounds of earlier versions have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_check: Option<Digest>,
    },
    /// Submissions are accepted from now on.
    Opened,
    /// A submission was accepted.
    Accepted {
        /// The client.
        client: Name,
        /// Digest of what it sent.
        sha256: Digest,
        /// Digest of the checked table that the solver reads.
        canonical_sha256: Digest,
        /// Rows.
        rows: u64,
        /// Different rows among them.
        distinct_rows: u64,
    },
    /// A client's key is not accepted any more. What it sent before stays.
    KeyRevoked {
        /// The client.
        client: Name,
    },
    /// The set of submissions is final.
    Closed {
        /// Why: `command`, `deadline` or `full_roster`.
        by: String,
        /// Digest of the list of submissions.
        submissions_sha256: Digest,
        /// How many there are.
        n_submissions: u64,
        /// Clients that sent nothing.
        absent: Vec<Name>,
    },
    /// The solve began.
    Solving,
    /// Model, outcome and statement are there for all.
    Published {
        /// Digest of the statement's file.
        statement_sha256: Digest,
        /// How long the solve took.
        solve_seconds: f64,
    },
    /// The round ended without a model.
    Failed {
        /// Why.
        reason: String,
    },
    /// The coordinator ended the round.
    Aborted {
        /// Why, in the coordinator's words.
        reason: String,
    },
}

/// Where a chain breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the audit log {problem}")]
pub struct ChainProblem {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Event {
    /// The event as a line of the log, without a line break.
    pub fn to_line(&self) -> String {
        // Expect safety: strings, finite numbers and lists of them.
        serde_json::to_string(self).expect("an event is plain data")
    }
}

/// Checks a log from its first line; gives the events and their digests.
pub fn verify_chain<'a>(
    lines: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<(Event, Digest)>, ChainProblem> {
    let mut events: Vec<(Event, Digest)> = Vec::new();
    for (i, text) in lines.into_iter().enumerate() {
        let broken = |problem: String| ChainProblem { line: i + 1, problem };
        let event: Event =
            serde_json::from_str(text).map_err(|error| broken(format!("is no event: {error}")))?;
        let previous = events.last().map_or(Digest::ZERO, |(_, digest)| *digest);
        if event.seq != i as u64 + 1 {
            return Err(broken(format!("has number {}", event.seq)));
        }
        if event.previous != previous {
            return Err(broken("does not hold the digest of the line before it".into()));
        }
        events.push((event, Digest::of(text.as_bytes())));
    }
    Ok(events)
}
