//! CSV tables: UTF-8, separated by commas, with a header, and as many cells in every row as in the header.

mod records;

use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;

use csv::{ByteRecord, ErrorKind};
use rayon::prelude::*;

use super::counted::{Counted, RecordBytes, exceeded_limit};
use super::{Cell, Table};
use crate::error::{Error, TableProblem};
use crate::output_table::{ColumnValues, OutputColumn};
use crate::read_limits::ReadLimits;

/// A CSV file after its header.
pub(super) struct Reader {
    inner: csv::Reader<Counted<Box<dyn Read + Send>>>,
    of_record: RecordBytes,
}

pub(super) fn open(
    path: &Path,
    bytes: Box<dyn Read + Send>,
    limits: &ReadLimits,
) -> Result<(Vec<String>, Reader), Error> {
    let (bytes, of_record) = Counted::new(bytes, limits);
    let mut inner = csv::ReaderBuilder::new().buffer_capacity(1 << 16).from_reader(bytes);
    let header = inner.byte_headers().map_err(|error| translate(path, error))?;
    if header.is_empty() {
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
    of_record.reset();
    Ok((columns, Reader { inner, of_record }))
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
            row += 1;
            self.of_record.reset();
            let text = |&column: &usize| {
                std::str::from_utf8(&record[column]).map(Cell::of_text).map_err(|_| {
                    let line = record.position().map_or(0, csv::Position::line);
                    TableProblem::not_utf8(line).in_file(path)
                })
            };
            let cells = chosen.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            visit(row, &cells)?;
        }
        Ok(row)
    }
}

/// The bytes of every record of a CSV text, the header first.
pub(crate) fn raw_records(text: &[u8], table: &Table) -> Result<Vec<Range<usize>>, Error> {
    records::records(text, b',', table.file())
}

fn translate(path: &Path, error: csv::Error) -> Error {
    let file = path.to_path_buf();
    match error.into_kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let row = pos.as_ref().map_or(0, csv::Position::record);
            let problem = TableProblem::new(format!(
                "line {line} has {len} cells, but the header has {expected_len} columns. Look for a missing or unquoted comma."
            ));
            problem.at(path, Some(row), None)
        }
        ErrorKind::Utf8 { pos, .. } => {
            TableProblem::not_utf8(pos.as_ref().map_or(0, csv::Position::line)).in_file(path)
        }
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
