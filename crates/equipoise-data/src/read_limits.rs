//! How much of a stranger's file is read.

use std::path::Path;

use crate::error::Error;

/// Bytes of one row, or of a header, of a CSV file that is read within limits.
const LONGEST_RECORD: u64 = 1 << 20;

/// What a file may hold; counted while it is read, whatever it says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Most rows.
    pub rows: u64,
    /// Most columns.
    pub columns: u64,
    /// Most bytes of unpacked CSV, and of eight for each cell of any table.
    pub decoded_bytes: u64,
    /// Most bytes of a row of CSV, with the blank lines before it.
    pub record_bytes: u64,
}

/// More than a limit of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Excess {
    /// Rows.
    #[error("it has {found} rows or more; at most {limit} are accepted")]
    Rows {
        /// As many as were seen, or claimed.
        found: u64,
        /// As many as may be.
        limit: u64,
    },
    /// Columns.
    #[error("it has {found} columns; at most {limit} are accepted")]
    Columns {
        /// As many as there are.
        found: u64,
        /// As many as may be.
        limit: u64,
    },
    /// Bytes.
    #[error("the table is larger than {limit} bytes when it is unpacked")]
    Bytes {
        /// As many as may be.
        limit: u64,
    },
    /// Bytes of one row.
    #[error("a row is longer than {limit} bytes")]
    RecordBytes {
        /// As many as may be.
        limit: u64,
    },
}

impl ReadLimits {
    /// For one's own files.
    pub const NONE: Self =
        Self { rows: u64::MAX, columns: u64::MAX, decoded_bytes: u64::MAX, record_bytes: u64::MAX };

    /// For a stranger's file: so many rows, columns and decoded bytes, and rows of CSV of at most a mebibyte.
    pub fn new(rows: u64, columns: u64, decoded_bytes: u64) -> Self {
        Self { rows, columns, decoded_bytes, record_bytes: LONGEST_RECORD }
    }

    /// Whether a table may have this row.
    pub(crate) fn check_rows(&self, file: &Path, rows: u64, columns: u64) -> Result<(), Error> {
        let excess = if rows > self.rows {
            Excess::Rows { found: rows, limit: self.rows }
        } else if rows.saturating_mul(columns).saturating_mul(8) > self.decoded_bytes {
            Excess::Bytes { limit: self.decoded_bytes }
        } else {
            return Ok(());
        };
        Err(Error::TooMuch { file: file.to_path_buf(), excess })
    }
}
