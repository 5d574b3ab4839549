//! The specification of a round, fixed at setup.

use std::collections::BTreeMap;
use std::path::Path;

use equipoise_core::Settings;
use equipoise_data::Schema;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ClientId, Digest, RoundId, RoundLimits};

/// Schema, settings, limits, deadline and roots of a round. The first event of the audit log contains the digest of
/// its JSON form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundSpec {
    /// The round.
    pub round: RoundId,
    /// The server's name. Signatures are bound to it.
    pub audience: String,
    /// The schema, as TOML.
    pub schema_toml: String,
    /// Its digest.
    pub schema_sha256: Digest,
    /// Settings of the solve. A solve is deterministic, so there is no seed.
    pub settings: Settings,
    /// Minimum number of submissions for a solve.
    pub minimum: u64,
    /// When the round closes automatically.
    pub deadline: Option<Timestamp>,
    /// Limits on a submission.
    pub limits: SubmissionLimits,
    /// The root of each client.
    pub roots: BTreeMap<ClientId, RootFile>,
}

/// A root file on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootFile {
    /// File name.
    pub file: String,
    /// Its digest.
    pub sha256: Digest,
}

/// Limits on a submission. There is no unlimited setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmissionLimits {
    /// Maximum file size in bytes. Default: 512 MiB.
    pub body_bytes: u64,
    /// Maximum number of rows. Default: 5 million.
    pub rows: u64,
    /// Maximum number of columns. Default: 512.
    pub columns: u64,
    /// Maximum size of the decoded table in bytes. Default: 4 GiB.
    pub decoded_bytes: u64,
    /// Maximum ratio of decoded size to file size. Tables below 64 MiB are exempt. Default: 200.
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
    /// The public part.
    pub fn public(&self) -> RoundLimits {
        RoundLimits { body_bytes: self.body_bytes, rows: self.rows, columns: self.columns }
    }
}

impl RoundSpec {
    /// The schema.
    pub fn schema(&self) -> Result<Schema, equipoise_data::Error> {
        Schema::from_toml(&self.schema_toml, Path::new("schema.toml"))
    }

    /// The form in the database and in `spec.json`. It is written once, when the round is created: everything else reads
    /// the stored text, because a later version of this program may write the same values differently.
    pub fn to_json(&self) -> String {
        // Expect safety: only strings, finite numbers and maps of them.
        serde_json::to_string(self).expect("a round is plain data")
    }
}
