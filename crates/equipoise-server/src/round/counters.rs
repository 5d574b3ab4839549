//! What the rounds count, for monitoring.

use std::sync::atomic::AtomicU64;

/// Counts since the server started.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Submissions accepted.
    pub(crate) accepted: AtomicU64,
    /// Files that the validator rejected.
    pub(crate) rejected_files: AtomicU64,
    /// Bytes received in uploads.
    pub(crate) body_bytes: AtomicU64,
}
