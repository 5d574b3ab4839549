//! What one run of the validator may use: time, memory and output, by the size of the file.

use std::time::Duration;

use equipoise_data::TableKind;
use serde::{Deserialize, Serialize};

use super::queue::Lane;
use crate::protocol::SubmissionLimits;

/// A table below this size is never a decompression bomb, whatever its ratio.
const SMALL_BYTES: u64 = 64 << 20;
/// CPU time for anything that does not depend on the size.
const BASE_CPU_SECONDS: u64 = 15;
/// A slow machine decodes, checks and writes at least this much per second of CPU time.
const DECODED_BYTES_PER_SECOND: u64 = 64 << 20;
/// A short run may take this much CPU time. Most files need far less.
const SHORT_CPU_SECONDS: u64 = 2;
/// A short run of this many bytes of CSV would be in vain.
const LONG_CSV_BYTES: u64 = 128 << 20;
const MEMORY_BYTES: u64 = 2 << 30;
const SHORT_MEMORY_BYTES: u64 = 512 << 20;
/// Headers, page and column metadata of a canonical table beyond its values.
const OUTPUT_OVERHEAD_BYTES: u64 = 16 << 20;

/// Limits on one child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Budget {
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    /// Other processes compete for the CPU, so this is much more than the CPU time.
    pub(super) wall_seconds: u64,
    pub(super) output_bytes: u64,
    /// Runs that may take long yield to small files and to the server.
    pub(super) niceness: i32,
}

impl Budget {
    /// The budget for a file of this size.
    pub(super) fn new(lane: Lane, limits: &SubmissionLimits, file_bytes: u64) -> Self {
        let decoded = decoded_limit(limits, file_bytes);
        // A cell of the canonical table takes eight bytes, as in the limit on the decoded table, and compresses.
        let output_bytes = decoded.saturating_mul(2).saturating_add(OUTPUT_OVERHEAD_BYTES);
        match lane {
            Lane::Small | Lane::Quick => Self {
                memory_bytes: SHORT_MEMORY_BYTES,
                cpu_seconds: SHORT_CPU_SECONDS,
                wall_seconds: 5 * SHORT_CPU_SECONDS,
                output_bytes,
                niceness: if lane == Lane::Small { 0 } else { 5 },
            },
            Lane::Long => {
                let cpu_seconds = BASE_CPU_SECONDS + decoded.div_ceil(DECODED_BYTES_PER_SECOND);
                Self {
                    memory_bytes: MEMORY_BYTES,
                    cpu_seconds,
                    wall_seconds: 5 * cpu_seconds,
                    output_bytes,
                    niceness: 5,
                }
            }
        }
    }

    pub(super) fn wall(&self) -> Duration {
        Duration::from_secs(self.wall_seconds)
    }
}

/// The lanes in which a file is tried, one after the other, until a run ends by itself.
pub(super) fn lanes(kind: TableKind, limits: &SubmissionLimits, bytes: u64) -> &'static [Lane] {
    if work_bytes(kind, limits, bytes) <= SMALL_BYTES {
        &[Lane::Small, Lane::Long]
    } else if kind == TableKind::Csv && bytes > LONG_CSV_BYTES {
        &[Lane::Long]
    } else {
        &[Lane::Quick, Lane::Long]
    }
}

/// Seconds of CPU time that a file takes at most, more or less.
pub(super) fn estimated_seconds(kind: TableKind, limits: &SubmissionLimits, bytes: u64) -> f64 {
    work_bytes(kind, limits, bytes) as f64 / DECODED_BYTES_PER_SECOND as f64
}

/// How many bytes a file decodes to at most. Plain text is what it is.
fn work_bytes(kind: TableKind, limits: &SubmissionLimits, bytes: u64) -> u64 {
    match kind {
        TableKind::Csv => bytes,
        TableKind::CsvGz | TableKind::Parquet => {
            bytes.saturating_mul(limits.decoded_ratio).min(limits.decoded_bytes)
        }
    }
}

/// The maximum size of the decoded table.
pub(super) fn decoded_limit(limits: &SubmissionLimits, file_bytes: u64) -> u64 {
    let by_ratio = file_bytes.saturating_mul(limits.decoded_ratio).max(SMALL_BYTES);
    limits.decoded_bytes.min(by_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_grows_with_the_file_up_to_the_limit_on_the_decoded_table() {
        let limits = SubmissionLimits::default();
        let seconds = |bytes| Budget::new(Lane::Long, &limits, bytes).cpu_seconds;
        assert_eq!(seconds(200 << 10), 16);
        assert_eq!(seconds(1 << 20), 15 + 4);
        assert_eq!(seconds(512 << 20), 15 + 64);
        assert_eq!(seconds(u64::MAX), seconds(512 << 20));
        let quick = Budget::new(Lane::Quick, &limits, 512 << 20);
        assert_eq!((quick.cpu_seconds, quick.wall()), (2, Duration::from_secs(10)));
    }

    #[test]
    fn small_files_have_a_lane_of_their_own() {
        let limits = SubmissionLimits::default();
        let first = |kind, bytes| lanes(kind, &limits, bytes)[0];
        assert_eq!(first(TableKind::Csv, 2 << 20), Lane::Small);
        assert_eq!(first(TableKind::Csv, 100 << 20), Lane::Quick);
        assert_eq!(first(TableKind::Csv, 200 << 20), Lane::Long);
        for kind in [TableKind::CsvGz, TableKind::Parquet] {
            assert_eq!(first(kind, 200 << 10), Lane::Small);
            assert_eq!(first(kind, 11 << 20), Lane::Quick);
            assert_eq!(first(kind, 512 << 20), Lane::Quick);
        }
        let seconds = |kind| estimated_seconds(kind, &limits, 200 << 10);
        assert!(seconds(TableKind::Csv) < seconds(TableKind::CsvGz));
        assert!(estimated_seconds(TableKind::CsvGz, &limits, u64::MAX) <= 64.0);
    }

    #[test]
    fn the_output_is_bounded_by_what_a_canonical_table_takes() {
        let limits = SubmissionLimits::default();
        let output = |bytes| Budget::new(Lane::Long, &limits, bytes).output_bytes;
        assert_eq!(output(1000), (128 << 20) + (16 << 20));
        assert_eq!(output(512 << 20), (8 << 30) + (16 << 20));
        let tight = SubmissionLimits { decoded_bytes: 1 << 20, ..limits };
        assert_eq!(Budget::new(Lane::Long, &tight, 1 << 30).output_bytes, (2 << 20) + (16 << 20));
    }
}
