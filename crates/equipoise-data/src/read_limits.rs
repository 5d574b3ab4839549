//! Limits on files from untrusted sources.

use std::path::Path;

use crate::error::{Error, TableProblem};

/// Maximum number of bytes in one row, or in the header, of a CSV file.
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// The maximum size of a table, checked while it is read, whatever its metadata claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum number of rows.
    pub rows: u64,
    /// Maximum number of columns.
    pub columns: u64,
    /// Maximum number of bytes of decompressed CSV, and of all cells of any table at eight bytes each.
    pub decoded_bytes: u64,
    /// Maximum number of bytes in a row of CSV, including blank lines before it.
    pub record_bytes: u64,
}

impl ReadLimits {
    /// No limits, for trusted files.
    pub const NONE: Self =
        Self { rows: u64::MAX, columns: u64::MAX, decoded_bytes: u64::MAX, record_bytes: u64::MAX };

    /// Limits for untrusted files. A row of CSV may have at most 1 MiB.
    pub fn new(rows: u64, columns: u64, decoded_bytes: u64) -> Self {
        Self { rows, columns, decoded_bytes, record_bytes: MAX_RECORD_BYTES }
    }

    /// Checks that a table may have this many rows.
    pub(crate) fn check_rows(&self, file: &Path, rows: u64, columns: u64) -> Result<(), Error> {
        if rows > self.rows {
            let limit = self.rows;
            let problem =
                format!("the table has at least {rows} rows, but at most {limit} are accepted.");
            Err(TableProblem::new(problem).in_file(file))
        } else if rows.saturating_mul(columns).saturating_mul(8) > self.decoded_bytes {
            Err(TableProblem::too_many_bytes(self.decoded_bytes).in_file(file))
        } else {
            Ok(())
        }
    }
}
