//! The public state of a round, as JSON.

use std::collections::BTreeMap;

use equipoise_core::Fairness;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use super::key::PublicKey;
use super::name::RoundId;

/// The state of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundState {
    /// Set up, not yet accepting submissions.
    Draft,
    /// Accepting submissions.
    Open,
    /// The set of submissions is final.
    Closed,
    /// Being solved.
    Solving,
    /// Model and statement are public.
    Published,
    /// Ended without a model, for a reason in the log.
    Failed,
    /// Ended by the coordinator.
    Aborted,
}

/// Progress of the solve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SolveProgress {
    /// Steps done.
    pub done: usize,
    /// Maximum number of steps.
    pub of: usize,
    /// Fairness violation at this step.
    pub violation: f64,
    /// ρ at this step.
    #[serde(default)]
    pub rho: f64,
    /// Objective at this step.
    #[serde(default)]
    pub objective: f64,
}

/// The limits that a client can check before it submits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundLimits {
    /// Maximum file size in bytes.
    pub body_bytes: u64,
    /// Maximum number of rows.
    pub rows: u64,
    /// Maximum number of columns.
    pub columns: u64,
}

/// The public state of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundInfo {
    /// The round.
    pub round: RoundId,
    /// The server's name. Every signature is bound to it.
    pub audience: String,
    /// Name and version of the server's program. Other versions may write other canonical tables for the same rows.
    pub program: String,
    /// Its state.
    pub state: RoundState,
    /// Digest of the schema.
    pub schema_sha256: Digest,
    /// The key that signs receipts and the statement.
    pub server_key: PublicKey,
    /// The fairness criterion. Missing in replies of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// Number of clients on the roster.
    pub n_clients: u64,
    /// Number of accepted submissions.
    pub n_submissions: u64,
    /// Minimum number of submissions for a solve.
    pub minimum: u64,
    /// When the round closes automatically.
    pub deadline: Option<Timestamp>,
    /// Limits on a submission.
    pub limits: RoundLimits,
    /// Progress of a running solve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<SolveProgress>,
    /// Why the round failed or was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Refused uploads since the server started, by error code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
    /// Published files; empty before publication.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// How much of a file the server has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadState {
    /// Bytes received. The upload resumes from there.
    pub offset: u64,
    /// File size in bytes.
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

    /// Whether the round is over.
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
        serde_json::from_value(text.into()).map_err(|_| format!("`{text}` is not a round state"))
    }
}
