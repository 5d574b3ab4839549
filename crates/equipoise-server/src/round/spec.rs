//! What a round is, fixed when it is set up.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::Settings;
use equipoise_data::Schema;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::protocol::{Digest, Name, RoundLimits};

/// Schema, settings, limits, deadline and roots of a round. Its JSON form is what the log's first event holds
/// the digest of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundSpec {
    /// The round.
    pub round: Name,
    /// The server's name, which signatures are bound to.
    pub audience: String,
    /// The schema, as a file.
    pub schema_toml: String,
    /// Its digest.
    pub schema_sha256: Digest,
    /// Settings of the solve, which draws no random numbers: there is no seed.
    pub settings: Settings,
    /// Submissions needed for a solve.
    pub minimum: u64,
    /// When the round closes by itself.
    pub deadline: Option<Timestamp>,
    /// What a submission may be.
    pub limits: SubmissionLimits,
    /// The root of each client.
    pub roots: BTreeMap<Name, RootFile>,
}

/// A root that the server holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootFile {
    /// Its name.
    pub file: String,
    /// Its digest.
    pub sha256: Digest,
}

/// What a submission may be. None is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmissionLimits {
    /// Most bytes of a file. Default: 512 MiB.
    pub body_bytes: u64,
    /// Most rows. Default: 5 million.
    pub rows: u64,
    /// Most columns. Default: 512.
    pub columns: u64,
    /// Most bytes of the decoded table. Default: 4 GiB.
    pub decoded_bytes: u64,
    /// Most bytes of the decoded table for each byte of the file; counts from 64 MiB on. Default: 200.
    pub decoded_ratio: u64,
}

impl Default for SubmissionLimits {
    fn default() -> Self {
        Self {
            body_bytes: 512 << 20,
            rows: 5_000_000,
            columns: 512,
            decoded_bytes: 4 << 30,
            decoded_ratio: 200,
        }
    }
}

impl SubmissionLimits {
    /// The part that clients are told.
    pub fn public(&self) -> RoundLimits {
        RoundLimits { body_bytes: self.body_bytes, rows: self.rows, columns: self.columns }
    }
}

impl RoundSpec {
    /// The schema.
    pub fn schema(&self) -> Result<Schema, equipoise_data::Error> {
        Schema::from_toml(&self.schema_toml, Path::new("schema.toml"))
    }

    /// The spec as the database has it.
    pub fn to_json(&self) -> String {
        // Expect safety: strings, finite numbers and maps of them.
        serde_json::to_string(self).expect("a round is plain data")
    }
}
