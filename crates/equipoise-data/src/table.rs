//! Tables: a header and rows of cells, in any supported file format.
//!
//! [`open_table`] selects the reader by file extension and reads the header; [`Table::visit`] then streams the
//! rows. Names and texts are trimmed, and missing values are recognised here.

mod batch;
mod cell;
mod counted;
mod csv;
mod delimiter;
mod file;
mod memory;
mod parquet;
mod quiet;
mod suggest;

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatchReader;

pub use cell::Cell;
pub use delimiter::Delimiter;
pub use file::TableFile;

use crate::error::{Error, TableProblem, list};
use crate::read_limits::ReadLimits;

pub(crate) use self::batch::Batch;
pub(crate) use self::csv::write as write_csv;
pub(crate) use self::parquet::{BatchWriter, write as write_parquet};

/// The table formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// `.csv`
    Csv,
    /// `.csv.gz`
    CsvGz,
    /// `.parquet`
    Parquet,
}

impl TableKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Csv, Self::CsvGz, Self::Parquet];

    /// The format by the file's extension, in upper or lower case.
    pub fn of(path: &Path) -> Result<Self, Error> {
        split_name(path).map(|(_, kind)| kind).ok_or_else(|| {
            TableProblem::new(
                "unsupported table format. Use a name that ends in .csv, .csv.gz or .parquet.",
            )
            .in_file(path)
        })
    }

    /// The format by its [media type](Self::media_type).
    pub fn of_media_type(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == text)
    }

    /// The media type, as in `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::CsvGz => "application/gzip",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// The file extension, with its dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => ".csv",
            Self::CsvGz => ".csv.gz",
            Self::Parquet => ".parquet",
        }
    }
}

/// File name without extension, and format. `None` if the extension is not that of a table.
pub(crate) fn split_name(path: &Path) -> Option<(String, TableKind)> {
    let name = path.file_name()?.to_str()?;
    let lower = name.to_ascii_lowercase();
    TableKind::ALL.into_iter().find_map(|kind| {
        let stem = lower.strip_suffix(kind.extension()).filter(|stem| !stem.is_empty())?;
        Some((name[..stem.len()].to_string(), kind))
    })
}

/// A table whose header has been read and whose rows have not.
pub struct Table {
    file: PathBuf,
    columns: Vec<String>,
    source: Source,
    limits: ReadLimits,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("file", &self.file)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// What the reader of a file delivers at a time.
pub(crate) enum Part<'a> {
    /// A row number, counted from 1, and the row's cells.
    Row(u64, &'a [Cell<'a>]),
    Batch(&'a Batch<'a>),
}

enum Source {
    Csv(Box<csv::Reader>),
    Parquet(Box<parquet::Reader>),
    Memory(memory::Reader),
}

/// Opens a table of raw rows by its extension and reads its header. The delimiter of a CSV file is detected unless it is
/// given.
pub fn open_table<'a>(file: impl Into<TableFile<'a>>) -> Result<Table, Error> {
    let table: TableFile<'a> = file.into();
    if TableKind::of(table.path)? == TableKind::Parquet && table.delimiter.is_some() {
        let problem = "a Parquet file has no delimiter. Leave out --delimiter.";
        return Err(TableProblem::new(problem).in_file(table.path));
    }
    let find_delimiter = |bytes| csv::find_delimiter(&table, bytes);
    read_header(table.path, open_file(table.path)?, ReadLimits::NONE, find_delimiter)
}

/// Opens a table of encoded rows, which come from this program, and so are separated by commas. Guessing the delimiter
/// would only give untrusted files more ways to be read.
pub fn open_encoded_table(path: &Path, limits: ReadLimits) -> Result<Table, Error> {
    TableKind::of(path)?;
    read_encoded_header(path, open_file(path)?, limits)
}

/// Like [`open_encoded_table`], for an open file. The path gives the format and appears in errors. Only calls on the
/// open file itself are made from here on, because a sandboxed reader may make no others, not even `stat`.
pub(crate) fn read_encoded_header(
    path: &Path,
    file: File,
    limits: ReadLimits,
) -> Result<Table, Error> {
    read_header(path, file, limits, |bytes| Ok((Delimiter::Comma, bytes)))
}

fn open_file(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|source| Error::Read { file: path.to_path_buf(), source })
}

fn read_header(
    path: &Path,
    file: File,
    limits: ReadLimits,
    find_delimiter: impl FnOnce(csv::Bytes) -> Result<(Delimiter, csv::Bytes), Error>,
) -> Result<Table, Error> {
    let kind = TableKind::of(path)?;
    let length = length(&file);
    if length == Some(0) {
        return Err(TableProblem::empty().in_file(path));
    }
    let open_csv = |bytes: csv::Bytes| {
        let (delimiter, bytes) = find_delimiter(bytes)?;
        csv::open(path, bytes, delimiter, &limits).map(|(c, r)| (c, Source::Csv(Box::new(r))))
    };
    let (columns, source) = match kind {
        TableKind::Csv => open_csv(Box::new(file))?,
        TableKind::CsvGz => {
            open_csv(Box::new(flate2::read::MultiGzDecoder::new(std::io::BufReader::new(file))))?
        }
        TableKind::Parquet => {
            let file = parquet::OpenFile::new(file, length.unwrap_or(0));
            parquet::open(path, file).map(|(c, r)| (c, Source::Parquet(Box::new(r))))?
        }
    };
    let table = Table { file: path.to_path_buf(), columns, source, limits };
    let found = table.columns.len() as u64;
    if found > limits.columns {
        let problem =
            format!("the table has {found} columns, but at most {} are accepted.", limits.columns);
        return Err(TableProblem::new(problem).in_file(path));
    }
    // Only a claim, but the decoder relies on it.
    limits.check_rows(path, table.claimed_rows().unwrap_or(0), found)?;
    check_names(path, &table.columns)?;
    Ok(table)
}

impl Table {
    /// A table in memory, read from a stream of batches. Errors and warnings show its name in place of a file.
    pub fn of_batches(
        name: impl Into<PathBuf>,
        batches: Box<dyn RecordBatchReader + Send>,
    ) -> Result<Self, Error> {
        let file = name.into();
        let (columns, reader) = memory::open(&file, batches)?;
        check_names(&file, &columns)?;
        Ok(Self { file, columns, source: Source::Memory(reader), limits: ReadLimits::NONE })
    }

    /// Only these rows, counted from 0. A table in memory has only these rows already: they are numbered accordingly. CSV
    /// can be read only as a whole.
    pub(crate) fn only(self, rows: Range<u64>) -> Result<Self, Error> {
        let source = match self.source {
            Source::Parquet(reader) => Source::Parquet(Box::new(reader.only(rows))),
            Source::Memory(reader) => Source::Memory(reader.after(rows.start)),
            source @ Source::Csv(_) if rows == (0..u64::MAX) => source,
            Source::Csv(_) => {
                let problem = "a CSV file can be read only as a whole, not in parts. Use Parquet.";
                return Err(TableProblem::new(problem).in_file(&self.file));
            }
        };
        Ok(Self { source, ..self })
    }

    /// Whether the table is in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.source, Source::Memory(_))
    }

    /// The file, or the name of a table in memory.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether cells can hold the values of a column.
    pub(crate) fn can_read(&self, column: usize) -> bool {
        match &self.source {
            Source::Csv(_) => true,
            Source::Parquet(reader) => reader.can_read(column),
            Source::Memory(reader) => reader.can_read(column),
        }
    }

    /// The column names: trimmed, distinct and not empty.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The index of a column. The error suggests columns with similar names.
    pub fn position(&self, column: &str) -> Result<usize, Error> {
        self.columns.iter().position(|c| c == column).ok_or_else(|| {
            let is_list = column.contains(',')
                && column.split(',').all(|part| self.columns.iter().any(|c| c == part.trim()));
            let suggestion = match &suggest::close_matches(column, &self.columns)[..] {
                _ if is_list => " To name several columns, repeat the option for each.".to_owned(),
                [] => String::new(),
                close => format!(" Did you mean {}?", list(close)),
            };
            let columns = list(&self.columns);
            let hint = |other: Delimiter| {
                format!(" Is the delimiter a {0}? Then use --delimiter {0}.", other.name())
            };
            let hint = self.other_delimiter().map(hint).unwrap_or_default();
            let problem =
                format!("the table has no such column.{suggestion} It has {columns}.{hint}");
            TableProblem::new(problem).in_column(&self.file, column)
        })
    }

    /// A delimiter in the header of a CSV file that has a single column because it was split at another one.
    pub(crate) fn other_delimiter(&self) -> Option<Delimiter> {
        let (Source::Csv(_), [column]) = (&self.source, &self.columns[..]) else { return None };
        Delimiter::ALL.into_iter().find(|other| column.contains(char::from(other.byte())))
    }

    /// A text that the table stores about itself under this name, outside of the rows. CSV has none.
    pub(crate) fn property(&self, name: &str) -> Option<String> {
        match &self.source {
            Source::Csv(_) => None,
            Source::Memory(reader) => reader.property(name),
            Source::Parquet(reader) => reader.property(name).map(str::to_owned),
        }
    }

    /// The number of rows according to the file's metadata, if it has any: a claim, not a count.
    pub fn claimed_rows(&self) -> Option<u64> {
        match &self.source {
            Source::Csv(_) | Source::Memory(_) => None,
            Source::Parquet(reader) => Some(reader.claimed_rows()),
        }
    }

    /// Calls `visit` with the number (from 1) and the chosen cells of each row, in the order of `chosen`, and
    /// returns the number of rows. Other columns are not decoded and may have any type.
    pub fn visit(
        self,
        chosen: &[usize],
        mut visit: impl FnMut(u64, &[Cell<'_>]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        self.visit_parts(chosen, usize::MAX, |part| match part {
            Part::Row(row, cells) => visit(row, cells),
            Part::Batch(batch) => {
                let mut cells = Vec::with_capacity(chosen.len());
                (0..batch.n_rows).try_for_each(|i| {
                    batch.cells(i, &mut cells);
                    visit(batch.first_row + i as u64, &cells)
                })
            }
        })
    }

    /// Like [`Table::visit`], but delivers rows that are decoded together as one batch.
    pub(crate) fn visit_parts(
        self,
        chosen: &[usize],
        max_rows: usize,
        mut visit: impl FnMut(Part<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (file, limits) = (self.file, self.limits);
        let n_columns = self.columns.len() as u64;
        let mut visit_within = |last_row: u64, part: Part<'_>| {
            limits.check_rows(&file, last_row, n_columns)?;
            visit(part)
        };
        let visit_batch = |batch: &Batch<'_>| {
            visit_within(batch.first_row - 1 + batch.n_rows as u64, Part::Batch(batch))
        };
        match self.source {
            Source::Csv(reader) => {
                reader.visit(&file, chosen, |row, cells| visit_within(row, Part::Row(row, cells)))
            }
            Source::Parquet(reader) => reader.visit_batches(&file, chosen, max_rows, visit_batch),
            Source::Memory(reader) => reader.visit_batches(&file, chosen, max_rows, visit_batch),
        }
    }
}

/// The length of a file that is about to be read from its start. `None` for a pipe or a folder.
fn length(mut file: &File) -> Option<u64> {
    if file.metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.rewind().ok()?;
    Some(length)
}

fn check_names(path: &Path, columns: &[String]) -> Result<(), Error> {
    if let Some(i) = columns.iter().position(String::is_empty) {
        let problem = format!(
            "column {} of the header has no name. Name or remove it; some programs write row numbers that way.",
            i + 1
        );
        return Err(TableProblem::new(problem).in_file(path));
    }
    let mut seen = std::collections::HashSet::new();
    match columns.iter().find(|column| !seen.insert(*column)) {
        Some(column) => Err(TableProblem::new(
            "the header has this column twice. Rename or remove one of them.",
        )
        .in_column(path, column)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn kind_and_stem_are_split_at_the_whole_extension() {
        let split = |name: &str| split_name(Path::new(name));
        assert_eq!(split("d/a.b.csv.gz"), Some(("a.b".into(), TableKind::CsvGz)));
        assert_eq!(split("A.CSV"), Some(("A".into(), TableKind::Csv)));
        assert_eq!(split("a.parquet"), Some(("a".into(), TableKind::Parquet)));
        assert_eq!(split(".csv"), None);
        assert_eq!(split("a.txt"), None);
    }

    #[test]
    fn an_unknown_extension_lists_the_known_ones() {
        let text = TableKind::of(Path::new("a.xlsx")).unwrap_err().to_string();
        for part in ["a.xlsx", ".csv", ".csv.gz", ".parquet"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn empty_and_missing_files_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.csv", "a.csv.gz", "a.parquet"] {
            let path = dir.path().join(name);
            let missing = open_table(&path).unwrap_err().to_string();
            assert!(missing.contains("cannot be read"), "{missing}");
            std::fs::write(&path, "").unwrap();
            let empty = open_table(&path).unwrap_err().to_string();
            assert!(empty.contains(name) && empty.contains("is empty"), "{empty}");
        }
    }
}
