//! Parquet tables, read column by column and handed out row by row.

mod batch_writer;
mod column;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

pub(crate) use self::batch_writer::BatchWriter;
use self::column::Column;
use super::Cell;
use super::quiet::catch_panics;
use crate::error::Error;
use crate::output_table::OutputColumn;

/// Rows decoded at a time: they are held in memory, the rest of the file is not.
const BATCH: usize = 4096;

/// A Parquet file behind its footer.
pub(super) struct Reader {
    builder: ParquetRecordBatchReaderBuilder<File>,
}

pub(super) fn open(path: &Path, file: File) -> Result<(Vec<String>, Reader), Error> {
    // Without the Arrow schema that some writers embed, a pandas category is plain text again.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder =
        guard(path, || ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
    let columns: Vec<String> =
        builder.schema().fields().iter().map(|field| field.name().trim().to_string()).collect();
    if columns.is_empty() {
        return Err(Error::Empty { file: path.to_path_buf() });
    }
    Ok((columns, Reader { builder }))
}

impl Reader {
    /// The larger of what the footer says and what its row groups say.
    pub(super) fn claimed_rows(&self) -> u64 {
        let metadata = self.builder.metadata();
        let of_file = metadata.file_metadata().num_rows().max(0) as u64;
        let of_groups = metadata.row_groups().iter().map(|group| group.num_rows().max(0) as u64);
        of_file.max(of_groups.fold(0, u64::saturating_add))
    }

    pub(super) fn visit(
        self,
        path: &Path,
        chosen: &[usize],
        mut visit: impl FnMut(u64, &[Cell<'_>]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        self.visit_batches(path, chosen, BATCH, |batch| {
            let mut cells = Vec::with_capacity(chosen.len());
            for i in 0..batch.n_rows {
                batch.cells(i, &mut cells);
                visit(batch.first_row + i as u64, &cells)?;
            }
            Ok(())
        })
    }

    /// Calls `visit` with at most so many rows at a time; gives the number of rows.
    pub(super) fn visit_batches(
        self,
        path: &Path,
        chosen: &[usize],
        most_rows: usize,
        mut visit: impl FnMut(&Batch<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        for &i in chosen {
            let field = self.builder.schema().field(i);
            if !Column::can_hold(field.data_type()) {
                return Err(Error::ColumnType {
                    file: path.to_path_buf(),
                    column: field.name().clone(),
                    kind: field.data_type().to_string(),
                });
            }
        }
        let mut reader = guard(path, || build(self.builder, chosen, most_rows.clamp(1, BATCH)))?;
        // The projection keeps the file's order; `at[i]` is where the i-th chosen column went.
        let sorted = distinct(chosen);
        let at: Vec<usize> = chosen.iter().map(|c| sorted.partition_point(|s| s < c)).collect();
        let mut first_row = 1;
        while let Some(batch) = next(path, &mut reader)? {
            let columns = at
                .iter()
                .map(|&i| Column::of(batch.column(i).as_ref()))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| broken(path, "a column changes its type".into()))?;
            let n_rows = batch.num_rows();
            visit(&Batch { first_row, n_rows, columns })?;
            first_row += n_rows as u64;
        }
        Ok(first_row - 1)
    }
}

/// Some rows, decoded.
pub(crate) struct Batch<'a> {
    /// The number of the first row, from 1.
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    columns: Vec<Column<'a>>,
}

impl<'a> Batch<'a> {
    /// The cells of the `i`-th row, in the order in which the columns were chosen.
    pub(crate) fn cells(&self, i: usize, cells: &mut Vec<Cell<'a>>) {
        cells.clear();
        cells.extend(self.columns.iter().map(|column| column.cell(i)));
    }

    /// The numbers of a chosen column, if it has nothing but numbers.
    pub(crate) fn numbers(&self, column: usize, put: impl FnMut(usize, f64)) -> bool {
        self.columns[column].numbers(put)
    }
}

fn build(
    builder: ParquetRecordBatchReaderBuilder<File>,
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
    Error::Parquet { file: path.to_path_buf(), reason }
}

/// Writes the columns. The same values give the same bytes.
pub(crate) fn write(out: &mut (dyn Write + Send), columns: &[OutputColumn]) -> std::io::Result<()> {
    let mut writer = BatchWriter::new(out);
    writer.write(columns)?;
    writer.finish()
}

#[cfg(test)]
mod tests;
