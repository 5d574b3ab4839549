//! CSV tables: UTF-8, with a header, and as many cells in every row as in the header.

mod detect;

use std::io::{Chain, Cursor, Read, Write};
use std::ops::Range;
use std::path::Path;

use csv::{ByteRecord, ErrorKind};
use rayon::prelude::*;

use super::counted::{Counted, RecordBytes, exceeded_limit};
use super::{Cell, Delimiter, TableFile};
use crate::error::{Error, TableProblem};
use crate::output_table::{ColumnValues, OutputColumn};
use crate::read_limits::ReadLimits;

/// The bytes of a file.
pub(super) type Bytes = Box<dyn Read + Send>;

/// Bytes at the beginning of a file that show its delimiter.
const SAMPLE_BYTES: u64 = 1 << 18;

/// Comes after the last byte of the file. The NUL is then a record of its own, unless a quoted cell is still open.
const END: &[u8] = b"\n\0";

/// A CSV file after its header.
pub(super) struct Reader {
    inner: csv::Reader<Chain<Counted<Bytes>, &'static [u8]>>,
    of_record: RecordBytes,
    n_columns: usize,
    delimiter: Delimiter,
}

/// The delimiter of a file, given or detected, and the file's bytes from the beginning.
pub(super) fn find_delimiter(
    file: &TableFile<'_>,
    mut bytes: Bytes,
) -> Result<(Delimiter, Bytes), Error> {
    let mut sample = Vec::new();
    let read = bytes.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample);
    read.map_err(|source| Error::Read { file: file.path.to_path_buf(), source })?;
    let is_whole = (sample.len() as u64) < SAMPLE_BYTES;
    let delimiter = match file.delimiter {
        Some(delimiter) => delimiter,
        None => detect::detect(&sample, is_whole, &file.columns)
            .map_err(|problem| problem.in_file(file.path))?,
    };
    Ok((delimiter, Box::new(Cursor::new(sample).chain(bytes))))
}

pub(super) fn open(
    path: &Path,
    bytes: Bytes,
    delimiter: Delimiter,
    limits: &ReadLimits,
) -> Result<(Vec<String>, Reader), Error> {
    let (bytes, of_record) = Counted::new(bytes, limits);
    let mut inner = csv::ReaderBuilder::new()
        .delimiter(delimiter.byte())
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(bytes.chain(END));
    let header = inner.byte_headers().map_err(|error| translate(path, error))?.clone();
    let mut reader = Reader { inner, of_record, n_columns: header.len(), delimiter };
    if has_nul(&header) && reader.is_end(path, &header)? {
        return Err(TableProblem::empty().in_file(path));
    }
    let columns = header
        .iter()
        .map(|name| match std::str::from_utf8(name) {
            // The decoder strips a byte order mark only if it arrives in one read.
            Ok(name) => Ok(name.trim_start_matches('\u{feff}').trim().to_string()),
            Err(_) => Err(TableProblem::not_utf8(1).in_file(path)),
        })
        .collect::<Result<_, _>>()?;
    reader.of_record.reset();
    Ok((columns, reader))
}

impl Reader {
    pub(super) fn visit(
        mut self,
        path: &Path,
        chosen: &[usize],
        mut visit: impl FnMut(u64, &[Cell<'_>]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut record = ByteRecord::new();
        let mut row = 0;
        while self.inner.read_byte_record(&mut record).map_err(|error| translate(path, error))? {
            if has_nul(&record) && self.is_end(path, &record)? {
                break;
            }
            row += 1;
            self.of_record.reset();
            if record.len() != self.n_columns {
                return Err(self.ragged(&record).at(path, Some(row), None));
            }
            let text = |&column: &usize| {
                std::str::from_utf8(&record[column])
                    .map(Cell::of_text)
                    .map_err(|_| TableProblem::not_utf8(line(&record)).in_file(path))
            };
            let cells = chosen.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            visit(row, &cells)?;
        }
        Ok(row)
    }

    /// Whether a record with a NUL is the end of the file. If not, it is an error.
    fn is_end(&mut self, path: &Path, record: &ByteRecord) -> Result<bool, Error> {
        let more = self.inner.read_byte_record(&mut ByteRecord::new());
        let is_last = !more.map_err(|error| translate(path, error))?;
        let line = line(record);
        let problem = match (is_last, record.as_slice()) {
            (true, b"\0") => return Ok(true),
            (true, _) => format!(
                "line {line} opens a quote that is never closed. Close it, or write a quote inside a cell as two quotes."
            ),
            (false, _) => format!(
                "line {line} contains a NUL byte, so the file is damaged or is not UTF-8 text. Save the table as UTF-8."
            ),
        };
        Err(TableProblem::new(problem).in_file(path))
    }

    fn ragged(&self, record: &ByteRecord) -> TableProblem {
        TableProblem::new(format!(
            "line {} has {} cells, but the header has {} columns. Look for a missing or unquoted {}.",
            line(record),
            record.len(),
            self.n_columns,
            self.delimiter.name()
        ))
    }
}

fn has_nul(record: &ByteRecord) -> bool {
    record.as_slice().contains(&0)
}

/// The line on which a record begins.
fn line(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

fn translate(path: &Path, error: csv::Error) -> Error {
    let file = path.to_path_buf();
    match error.into_kind() {
        ErrorKind::Io(source) => match exceeded_limit(&source) {
            Some(problem) => problem.in_file(path),
            None => Error::Read { file, source },
        },
        other => Error::Read { file, source: std::io::Error::other(format!("{other:?}")) },
    }
}

/// Rows that one thread turns into text at a time, and such parts in memory.
const PART_ROWS: usize = 1024;
const PARTS: usize = 16;

/// Writes a header and rows. Numbers have the shortest form that reads back bit for bit.
///
/// Threads turn rows into text while the text before it is written.
pub(crate) fn write(
    out: &mut (dyn Write + Send),
    columns: &[OutputColumn],
    n_rows: usize,
) -> std::io::Result<()> {
    let mut header = csv::WriterBuilder::new().from_writer(Vec::new());
    header.write_record(columns.iter().map(|column| &column.name))?;
    let mut ready = vec![bytes_of(header)?];
    for start in (0..n_rows).step_by(PARTS * PART_ROWS) {
        let end = n_rows.min(start + PARTS * PART_ROWS);
        let parts = (start..end).into_par_iter().step_by(PART_ROWS);
        let (written, next): (_, std::io::Result<Vec<_>>) = rayon::join(
            || ready.iter().try_for_each(|part| out.write_all(part)),
            || parts.map(|at| text_of(columns, at..end.min(at + PART_ROWS))).collect(),
        );
        written?;
        ready = next?;
    }
    ready.iter().try_for_each(|part| out.write_all(part))?;
    out.flush()
}

fn text_of(columns: &[OutputColumn], rows: Range<usize>) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let mut text = Vec::new();
    for row in rows {
        for column in columns {
            text.clear();
            match &column.values {
                ColumnValues::Numbers(values) => shortest(values[row], &mut text)?,
                ColumnValues::Codes(values) => write!(text, "{}", values[row])?,
                ColumnValues::Counts(values) => write!(text, "{}", values[row])?,
                ColumnValues::Texts(values) => text.extend_from_slice(values[row].as_bytes()),
                ColumnValues::NumbersOrEmpty(values) => {
                    values[row].iter().try_for_each(|value| shortest(*value, &mut text))?;
                }
                ColumnValues::CodesOrEmpty(values) => {
                    values[row].iter().try_for_each(|value| write!(text, "{value}"))?;
                }
            }
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    bytes_of(writer)
}

fn bytes_of(writer: csv::Writer<Vec<u8>>) -> std::io::Result<Vec<u8>> {
    writer.into_inner().map_err(|error| std::io::Error::other(error.to_string()))
}

/// Very large and very small numbers have an exponent, because they may have 300 digits. The others are written as JSON
/// does, many times faster than by the standard library, but whole numbers without `.0`.
fn shortest(value: f64, text: &mut Vec<u8>) -> std::io::Result<()> {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        serde_json::to_writer(&mut *text, &value)?;
        let digits = text.strip_suffix(b".0").map_or(text.len(), <[u8]>::len);
        text.truncate(digits);
        Ok(())
    } else {
        write!(text, "{value:e}")
    }
}

#[cfg(test)]
mod tests;
