//! Writes a Parquet file row group by row group.

use std::io::{self, Write};

use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::output_table::{OutputColumn, record_batch};

/// A Parquet writer. The same row groups give the same bytes: there are no dictionaries, whose hashing could also
/// merge 0 and −0.
pub(crate) struct BatchWriter<W: Write + Send> {
    /// The output, until the first row group determines the columns.
    out: Option<W>,
    writer: Option<ArrowWriter<W>>,
    properties: Vec<KeyValue>,
}

impl<W: Write + Send> BatchWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out: Some(out), writer: None, properties: Vec::new() }
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
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
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
