//! Tables in memory, as a stream of Arrow batches.

use std::path::Path;

use arrow_array::RecordBatchReader;

use super::batch::{Batch, MAX_BATCH_ROWS, can_hold, check_types, column_names};
use crate::error::{Error, TableProblem};

/// A stream whose schema has been read.
pub(super) struct Reader {
    batches: Box<dyn RecordBatchReader + Send>,
    /// Rows of the whole table before these.
    rows_before: u64,
}

pub(super) fn open(
    name: &Path,
    batches: Box<dyn RecordBatchReader + Send>,
) -> Result<(Vec<String>, Reader), Error> {
    Ok((column_names(name, &batches.schema())?, Reader { batches, rows_before: 0 }))
}

impl Reader {
    /// Numbers the rows as part of a larger table, with so many rows before these.
    pub(super) fn after(self, rows_before: u64) -> Self {
        Self { rows_before, ..self }
    }

    /// A text in the metadata of the stream's schema.
    pub(super) fn property(&self, name: &str) -> Option<String> {
        self.batches.schema().metadata().get(name).cloned()
    }

    /// Whether cells can hold the values of a column.
    pub(super) fn can_read(&self, column: usize) -> bool {
        can_hold(&self.batches.schema(), column)
    }

    /// Calls `visit` with at most `max_rows` rows at a time and returns the number of rows. No row is copied.
    pub(super) fn visit_batches(
        self,
        name: &Path,
        chosen: &[usize],
        max_rows: usize,
        mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        check_types(name, &self.batches.schema(), chosen)?;
        let broken = |reason: String| {
            TableProblem::new(format!("the table cannot be read: {reason}")).in_file(name)
        };
        let max_rows = max_rows.clamp(1, MAX_BATCH_ROWS);
        let at: Vec<usize> = (0..chosen.len()).collect();
        let mut first_row = self.rows_before + 1;
        for batch in self.batches {
            let batch = batch.and_then(|batch| batch.project(chosen));
            let batch = batch.map_err(|error| broken(error.to_string()))?;
            for start in (0..batch.num_rows()).step_by(max_rows) {
                let part = batch.slice(start, max_rows.min(batch.num_rows() - start));
                let part = Batch::of(&part, &at, first_row)
                    .ok_or_else(|| broken("a column changes its type".to_owned()))?;
                visit(&part)?;
                first_row += part.n_rows as u64;
            }
        }
        Ok(first_row - 1 - self.rows_before)
    }
}

#[cfg(test)]
mod tests;
