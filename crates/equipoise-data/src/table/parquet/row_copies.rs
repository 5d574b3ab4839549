//! Copies rows of a Parquet file to new files with the same columns.

use std::fs::File;
use std::path::Path;

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{MAX_BATCH_ROWS, guard, next};
use crate::error::Error;
use crate::output_file::write_atomically;
use crate::row_copies::{RowCopy, changed};

/// Copies rows to new files. The same rows give the same bytes.
pub(crate) fn copy_rows(file: &Path, n_rows: usize, copies: &[RowCopy]) -> Result<(), Error> {
    let batches = read(file)?;
    if batches.iter().map(RecordBatch::num_rows).sum::<usize>() != n_rows {
        return Err(changed(file));
    }
    copies.iter().try_for_each(|copy| write(copy, &batches))
}

/// All rows of all columns, whatever their types.
fn read(file: &Path) -> Result<Vec<RecordBatch>, Error> {
    let source =
        File::open(file).map_err(|source| Error::Read { file: file.to_path_buf(), source })?;
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let mut reader = guard(file, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(source, options)?;
        builder.with_batch_size(MAX_BATCH_ROWS).build()
    })?;
    let mut batches = Vec::new();
    while let Some(batch) = next(file, &mut reader)? {
        batches.push(batch);
    }
    Ok(batches)
}

fn write(copy: &RowCopy, batches: &[RecordBatch]) -> Result<(), Error> {
    write_atomically(&copy.path, false, |out| {
        let Some(first) = batches.first() else { return Err(std::io::Error::other("no rows")) };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false)
            .build();
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(out, first.schema(), options)?;
        let mut rows = &copy.rows[..];
        let mut start = 0;
        for batch in batches {
            let end = start + batch.num_rows();
            let (here, later) = rows.split_at(rows.partition_point(|&row| row < end));
            let indices =
                UInt32Array::from_iter_values(here.iter().map(|&row| (row - start) as u32));
            writer.write(&take_record_batch(batch, &indices).map_err(std::io::Error::other)?)?;
            (rows, start) = (later, end);
        }
        writer.close().map(|_| ()).map_err(std::io::Error::from)
    })
}
