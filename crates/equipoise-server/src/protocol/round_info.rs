//! What anyone may know about a round, as JSON.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::PublicKey;
use super::name::Name;

/// Where a round stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundState {
    /// Set up, not yet accepting.
    Draft,
    /// Accepting submissions.
    Open,
    /// The set of submissions is final.
    Closed,
    /// Being solved.
    Solving,
    /// Model and statement are there.
    Published,
    /// Ended without a model; the log says why.
    Failed,
    /// Ended by the coordinator.
    Aborted,
}

/// How far the solve is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolveProgress {
    /// Steps done.
    pub done: usize,
    /// Most steps there can be.
    pub of: usize,
    /// Size of the violation at this step.
    pub violation: f64,
    /// ρ of this step.
    #[serde(default)]
    pub rho: f64,
    /// The objective at this step.
    #[serde(default)]
    pub objective: f64,
}

/// What a submission may be, as far as a client can tell beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundLimits {
    /// Most bytes of a file.
    pub body_bytes: u64,
    /// Most rows.
    pub rows: u64,
    /// Most columns.
    pub columns: u64,
}

/// The public part of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundInfo {
    /// The round.
    pub round: Name,
    /// The server's name, which every signature is bound to.
    pub audience: String,
    /// Where the round stands.
    pub state: RoundState,
    /// Digest of the schema.
    pub schema_sha256: Digest,
    /// The key that signs receipts and statement.
    pub server_key: PublicKey,
    /// Clients of the roster.
    pub n_clients: u64,
    /// Submissions accepted.
    pub n_submissions: u64,
    /// Submissions needed for a solve.
    pub minimum: u64,
    /// When the round closes by itself.
    pub deadline: Option<Timestamp>,
    /// What a submission may be.
    pub limits: RoundLimits,
    /// How far the solve is, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<SolveProgress>,
    /// Why the round failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Uploads of clients that were refused since the server started, by code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    /// Published files; empty before publishing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// How much of a file the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadState {
    /// Bytes received; the upload goes on from there.
    pub offset: u64,
    /// Bytes of the whole file.
    pub length: u64,
}

impl RoundState {
    /// The state's name in JSON and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Solving => "solving",
            Self::Published => "published",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }

    /// Whether nothing will happen any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Published | Self::Failed | Self::Aborted)
    }
}

impl std::fmt::Display for RoundState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for RoundState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        serde_json::from_value(text.into()).map_err(|_| format!("`{text}` is no state of a round"))
    }
}
