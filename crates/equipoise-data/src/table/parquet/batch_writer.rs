//! Writes a Parquet file row group by row group.

use std::io::{self, Write};

use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use crate::output_table::{ColumnValues, OutputColumn, record_batch};

/// A Parquet writer. The same row groups give the same bytes: there are no dictionaries, whose hashing could also
/// merge 0 and −0.
pub(crate) struct BatchWriter<W: Write + Send> {
    /// The output, until the first row group determines the columns.
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
    properties: Vec<KeyValue>,
    is_compact: bool,
}

/// How hard zstd tries in a compact file, which is small.
const COMPACT_LEVEL: i32 = 19;

impl<W: Write + Send> BatchWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out: Some(out), writer: None, properties: Vec::new(), is_compact: false }
    }

    /// A writer for few rows of numbers with few digits. The first bytes of all numbers are stored together, then the second ones, and so on;
    /// most of these are equal, and take no space. There are no statistics and no index: they would take more than the rows.
    pub(crate) fn compact(out: W) -> Self {
        Self { is_compact: true, ..Self::new(out) }
    }

    /// Stores these names and texts with the table.
    pub(crate) fn set_properties(&mut self, properties: Vec<(&str, String)>) {
        let stored = |(name, text): (&str, String)| KeyValue::new(name.to_owned(), text);
        self.properties = properties.into_iter().map(stored).collect();
    }

    /// Writes rows as one row group.
    pub(crate) fn write(&mut self, columns: &[OutputColumn]) -> io::Result<()> {
        let batch = record_batch(columns)?;
        if let Some(out) = self.out.take() {
            let properties = self
                .encoding(columns)?
                .set_dictionary_enabled(false)
                .set_key_value_metadata(
                    Some(std::mem::take(&mut self.properties)).filter(|list| !list.is_empty()),
                )
                .build();
            let options = ArrowWriterOptions::new()
                .with_properties(properties)
                .with_skip_arrow_metadata(true);
            let writer = ArrowWriter::try_new_with_options(out, batch.schema(), options);
            self.writer = Some(writer.map_err(io_error)?);
        }
        let writer = self.writer.as_mut().ok_or_else(|| io::Error::other("no columns"))?;
        writer.write(&batch).and_then(|()| writer.flush()).map_err(io_error)
    }

    fn encoding(&self, columns: &[OutputColumn]) -> io::Result<WriterPropertiesBuilder> {
        let properties = WriterProperties::builder();
        if !self.is_compact {
            return Ok(properties.set_compression(Compression::ZSTD(ZstdLevel::default())));
        }
        let level = ZstdLevel::try_new(COMPACT_LEVEL).map_err(io_error)?;
        let properties = properties
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        // Only numbers: old readers do not know this encoding of integers.
        let numbers =
            columns.iter().filter(|column| matches!(column.values, ColumnValues::Numbers(_)));
        Ok(numbers.fold(properties, |properties, column| {
            let path = ColumnPath::new(vec![column.name.clone()]);
            properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT)
        }))
    }

    /// Writes the end of the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        let writer = self.writer.ok_or_else(|| io::Error::other("no rows"))?;
        writer.close().map(|_| ()).map_err(io_error)
    }
}

/// The underlying system error, if any, so that a full disk can be recognised.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
