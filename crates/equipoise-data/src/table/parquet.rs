//! Parquet tables, decoded column by column.

mod batch_writer;
mod open_file;

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

pub(crate) use self::batch_writer::BatchWriter;
pub(super) use self::open_file::OpenFile;
use super::batch::{Batch, MAX_BATCH_ROWS, can_hold, check_types, column_names};
use super::quiet::catch_panics;
use crate::error::{Error, TableProblem};
use crate::output_table::OutputColumn;

/// A Parquet file whose footer has been read.
pub(super) struct Reader {
    builder: ParquetRecordBatchReaderBuilder<OpenFile>,
    /// The rows to read, counted from 0.
    rows: Range<u64>,
}

pub(super) fn open(path: &Path, file: OpenFile) -> Result<(Vec<String>, Reader), Error> {
    // Skipping the Arrow schema that some writers embed turns a pandas category into plain text.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        guard(path, || ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
    let columns = column_names(path, builder.schema())?;
    Ok((columns, Reader { builder, rows: 0..u64::MAX }))
}

impl Reader {
    /// The number of rows according to the footer or its row groups, whichever is larger.
    pub(super) fn claimed_rows(&self) -> u64 {
        let metadata = self.builder.metadata();
        let of_file = metadata.file_metadata().num_rows().max(0) as u64;
        let of_groups = metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64);
        of_file.max(of_groups.fold(0, u64::saturating_add))
    }

    /// A text stored with the table under this name. The last one counts, as in most readers.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        let stored = self.builder.metadata().file_metadata().key_value_metadata()?;
        stored.iter().rev().find(|property| property.key == name)?.value.as_deref()
    }

    /// Whether cells can hold the values of a column.
    pub(super) fn can_read(&self, column: usize) -> bool {
        can_hold(self.builder.schema(), column)
    }

    /// Reads only these rows, counted from 0.
    pub(super) fn only(self, rows: Range<u64>) -> Self {
        Self { rows, ..self }
    }

    /// Calls `visit` with at most `max_rows` rows at a time and returns the number of rows.
    pub(super) fn visit_batches(
        self,
        path: &Path,
        chosen: &[usize],
        max_rows: usize,
        mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        check_types(path, self.builder.schema(), chosen)?;
        let first = self.rows.start;
        let builder = select(self.builder, self.rows);
        let mut reader = guard(path, || build(builder, chosen, max_rows.clamp(1, MAX_BATCH_ROWS)))?;
        // The projection keeps the file's order; `at[i]` is the index of the i-th chosen column in it.
        let sorted = distinct(chosen);
        let at: Vec<usize> = chosen.iter().map(|c| sorted.partition_point(|s| s < c)).collect();
        let mut first_row = first + 1;
        while let Some(batch) = next(path, &mut reader)? {
            let decoded = Batch::of(&batch, &at, first_row)
                .ok_or_else(|| broken(path, "a column changes its type".into()))?;
            visit(&decoded)?;
            first_row += batch.num_rows() as u64;
        }
        Ok(first_row - 1 - first)
    }
}

/// Selects rows, and with them the row groups to read.
fn select(
    builder: ParquetRecordBatchReaderBuilder<OpenFile>,
    rows: Range<u64>,
) -> ParquetRecordBatchReaderBuilder<OpenFile> {
    if rows == (0..u64::MAX) {
        return builder;
    }
    let (mut groups, mut skipped, mut start) = (Vec::new(), None, 0);
    for (group, metadata) in builder.metadata().row_groups().iter().enumerate() {
        let end = start + metadata.num_rows().max(0) as u64;
        if start < rows.end && end > rows.start {
            groups.push(group);
            skipped.get_or_insert(start);
        }
        start = end;
    }
    let offset = rows.start.saturating_sub(skipped.unwrap_or(0)) as usize;
    let builder = builder.with_row_groups(groups).with_offset(offset);
    match rows.end {
        u64::MAX => builder,
        end => builder.with_limit(end.saturating_sub(rows.start) as usize),
    }
}

fn build(
    builder: ParquetRecordBatchReaderBuilder<OpenFile>,
    chosen: &[usize],
    batch_rows: usize,
) -> parquet::errors::Result<ParquetRecordBatchReader> {
    let mask = ProjectionMask::roots(builder.parquet_schema(), chosen.iter().copied());
    let reader = builder.with_projection(mask).with_batch_size(batch_rows).build()?;
    if reader.schema().fields().len() == distinct(chosen).len() {
        Ok(reader)
    } else {
        Err(parquet::errors::ParquetError::General("the columns do not match the schema".into()))
    }
}

fn distinct(chosen: &[usize]) -> Vec<usize> {
    let mut sorted = chosen.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

fn next(path: &Path, reader: &mut ParquetRecordBatchReader) -> Result<Option<RecordBatch>, Error> {
    catch_panics(|| reader.next())
        .map_err(|reason| broken(path, reason))?
        .transpose()
        .map_err(|error| broken(path, error.to_string()))
}

fn guard<T>(path: &Path, decode: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T, Error> {
    catch_panics(decode)
        .map_err(|reason| broken(path, reason))?
        .map_err(|error| broken(path, error.to_string()))
}

fn broken(path: &Path, reason: String) -> Error {
    let text = format!("not a valid Parquet file: {reason}. Export it again, or use a CSV file.");
    TableProblem::new(text).in_file(path)
}

/// Writes the columns. The same values give the same bytes.
pub(crate) fn write(out: &mut (dyn Write + Send), columns: &[OutputColumn]) -> std::io::Result<()> {
    let mut writer = BatchWriter::new(out);
    writer.write(columns)?;
    writer.finish()
}

#[cfg(test)]
mod tests;
