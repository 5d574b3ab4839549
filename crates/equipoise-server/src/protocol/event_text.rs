//! Events in words.

use std::fmt;

use super::event::{CloseReason, EventKind};
use super::key::PublicKey;
use super::name::ClientId;

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created { roster, schema_sha256, .. } => {
                let clients = join(roster.iter().map(PublicKey::name));
                write!(f, "created for {clients} with schema {schema_sha256}")
            }
            Self::Opened => f.write_str("opened"),
            Self::Accepted { client, sha256, rows, distinct_rows, received_at, .. } => write!(
                f,
                "accepted from {client}: {rows} rows, {distinct_rows} distinct, received {received_at}, SHA-256 \
                 {sha256}"
            ),
            Self::KeyRevoked { client } => write!(f, "key of {client} revoked"),
            Self::Closed { by, n_submissions, absent, .. } => {
                let plural = if *n_submissions == 1 { "" } else { "s" };
                write!(f, "closed {by}: {n_submissions} submission{plural}")?;
                match absent.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; none from {}", join(absent)),
                }
            }
            Self::Solving => f.write_str("solve started"),
            Self::Published { statement_sha256, solve_seconds } => {
                write!(
                    f,
                    "solved in {solve_seconds:.2} s and published, statement {statement_sha256}"
                )
            }
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            Self::Aborted { reason } => write!(f, "aborted: {reason}"),
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "by the coordinator",
            Self::Deadline => "at the deadline",
            Self::FullRoster => "because nobody else can submit",
        })
    }
}

fn join<'a>(names: impl IntoIterator<Item = &'a ClientId>) -> String {
    names.into_iter().map(ClientId::as_str).collect::<Vec<_>>().join(", ")
}
