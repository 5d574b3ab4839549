//! What validation found in a submitted file.

use serde::{Deserialize, Serialize};

use super::Digest;

/// A file that passed validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validated {
    /// Digest of the canonical table.
    pub canonical_sha256: Digest,
    /// Number of rows.
    pub rows: u64,
    /// Number of distinct rows: exact up to five million, otherwise within about 0.1 %.
    pub distinct_rows: u64,
}
