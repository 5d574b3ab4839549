//! Copies some rows of a table to new tables, each cell as it is in the file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};

use crate::error::Error;
use crate::output_file::write_atomically;
use crate::table::{Table, TableKind, copy_parquet_rows, raw_records};

/// A table to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCopy {
    /// The file, with the extension of the table that is copied.
    pub path: PathBuf,
    /// The rows to copy, counted from 0, in ascending order.
    pub rows: Vec<usize>,
}

/// Copies rows of a table to new tables. A CSV row keeps its bytes: quotes, spaces, the spelling of numbers and missing
/// values. A Parquet column keeps its type.
///
/// The table must have `n_rows` rows, as when it was read before.
pub fn copy_rows(table: &Table, n_rows: usize, copies: &[RowCopy]) -> Result<(), Error> {
    let file = table.file();
    let kind = TableKind::of(file)?;
    if kind == TableKind::Parquet {
        return copy_parquet_rows(file, n_rows, copies);
    }
    let text = read_text(file, kind)?;
    let records = raw_records(&text, table)?;
    let Some((header, rows)) = records.split_first().filter(|(_, rows)| rows.len() == n_rows)
    else {
        return Err(changed(file));
    };
    // The header ends at a line break, unless there are no rows.
    let line_end: &[u8] = if text[header.end..].starts_with(b"\r\n") { b"\r\n" } else { b"\n" };
    for copy in copies {
        write_atomically(&copy.path, false, |out| {
            let chosen = copy.rows.iter().map(|&row| &rows[row]);
            let write = |out: &mut dyn Write| {
                [header].into_iter().chain(chosen).try_for_each(|record| {
                    out.write_all(&text[record.clone()])?;
                    out.write_all(line_end)
                })
            };
            if kind == TableKind::Csv {
                return write(out);
            }
            let mut gz = GzBuilder::new().mtime(0).write(out, Compression::default());
            write(&mut gz)?;
            gz.finish().map(|_| ())
        })?;
    }
    Ok(())
}

/// The file is not the one that was read before.
pub(crate) fn changed(file: &Path) -> Error {
    Error::Invalid(format!("{}: changed while it was being read. Start again.", file.display()))
}

fn read_text(file: &Path, kind: TableKind) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { file: file.to_path_buf(), source };
    let bytes = std::fs::read(file).map_err(failed)?;
    if kind == TableKind::Csv {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

#[cfg(test)]
mod tests;
