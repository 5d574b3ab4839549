//! A client of a round, as its coordinator sees it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::name::ClientId;

/// What the coordinator's page and `status` show about a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatus {
    /// The client.
    pub client: ClientId,
    /// When its key was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// Whether its submission was accepted.
    pub submitted: bool,
    /// Digest of the submitted file.
    pub sha256: Option<Digest>,
    /// Number of rows submitted.
    pub rows: Option<u64>,
    /// How many of them are distinct.
    pub distinct_rows: Option<u64>,
    /// When the submission was accepted.
    #[serde(default)]
    pub accepted_at: Option<Timestamp>,
    /// What is unusual about the submission.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Its recent refused uploads since the server started, latest first.
    #[serde(default)]
    pub refused: Vec<RefusedAttempt>,
}

/// A refused upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedAttempt {
    /// The error code.
    pub code: String,
    /// When it was refused.
    pub at: Timestamp,
}
