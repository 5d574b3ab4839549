//! CSV tables: UTF-8, separated by commas, with a header, and as many cells in every row as in the header.

use std::io::{Read, Write};
use std::path::Path;

use csv::{ByteRecord, ErrorKind};

use super::Cell;
use super::counted::{Counted, RecordBytes, exceeded_limit};
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

/// Writes a header and rows. Numbers have the shortest form that reads back bit for bit.
pub(crate) fn write(
    out: &mut (dyn Write + Send),
    columns: &[OutputColumn],
    n_rows: usize,
) -> std::io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record(columns.iter().map(|column| &column.name))?;
    for row in 0..n_rows {
        writer.write_record(columns.iter().map(|column| match &column.values {
            ColumnValues::Numbers(values) => shortest(values[row]),
            ColumnValues::Codes(values) => values[row].to_string(),
            ColumnValues::Counts(values) => values[row].to_string(),
            ColumnValues::Texts(values) => values[row].clone(),
        }))?;
    }
    writer.flush()
}

/// Very large and very small numbers have an exponent, because they may have 300 digits.
fn shortest(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests;
