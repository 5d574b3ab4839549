//! Tables: a header and rows of cells, whatever the file behind them.
//!
//! [`open_table`] picks the reader by the file's extension and reads the header; [`Table::visit`] then
//! streams the rows. Names and texts are trimmed; what counts as missing is decided here, once.

mod cell;
mod counted;
mod csv;
mod parquet;
mod quiet;
mod suggest;

use std::path::{Path, PathBuf};

pub use cell::Cell;

use crate::error::Error;
use crate::read_limits::{Excess, ReadLimits};

pub(crate) use self::csv::write as write_csv;
pub(crate) use self::parquet::{Batch, BatchWriter, write as write_parquet};

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
        split_name(path)
            .map(|(_, kind)| kind)
            .ok_or_else(|| Error::UnknownTableKind { file: path.to_path_buf() })
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

/// What a file gives in one go.
pub(crate) enum Part<'a> {
    /// The number of a row, from 1, and its cells.
    Row(u64, &'a [Cell<'a>]),
    Batch(&'a Batch<'a>),
}

enum Source {
    Csv(csv::Reader),
    Parquet(Box<parquet::Reader>),
}

/// Opens a table by its extension and reads its header.
pub fn open_table(path: &Path) -> Result<Table, Error> {
    open_table_within(path, ReadLimits::NONE)
}

/// Opens a table that is read no further than the limits say.
pub(crate) fn open_table_within(path: &Path, limits: ReadLimits) -> Result<Table, Error> {
    let kind = TableKind::of(path)?;
    let file = std::fs::File::open(path)
        .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
    if file.metadata().is_ok_and(|found| found.is_file() && found.len() == 0) {
        return Err(Error::Empty { file: path.to_path_buf() });
    }
    let (columns, source) = match kind {
        TableKind::Csv => {
            csv::open(path, Box::new(file), &limits).map(|(c, r)| (c, Source::Csv(r)))?
        }
        TableKind::CsvGz => {
            let plain = flate2::read::MultiGzDecoder::new(std::io::BufReader::new(file));
            csv::open(path, Box::new(plain), &limits).map(|(c, r)| (c, Source::Csv(r)))?
        }
        TableKind::Parquet => {
            parquet::open(path, file).map(|(c, r)| (c, Source::Parquet(Box::new(r))))?
        }
    };
    let table = Table { file: path.to_path_buf(), columns, source, limits };
    if table.columns.len() as u64 > limits.columns {
        let found = table.columns.len() as u64;
        return Err(table.excess(Excess::Columns { found, limit: limits.columns }));
    }
    // A claim, but the file cannot be read otherwise than by it.
    table.check_rows(table.claimed_rows().unwrap_or(0))?;
    check_names(path, &table.columns)?;
    Ok(table)
}

impl Table {
    /// The file behind the table.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of the columns, trimmed, distinct and none of them empty.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where a column stands. The error names columns with nearly that name.
    pub fn position(&self, column: &str) -> Result<usize, Error> {
        self.columns.iter().position(|c| c == column).ok_or_else(|| Error::MissingColumn {
            file: self.file.clone(),
            column: column.to_string(),
            close: suggest::close_matches(column, &self.columns),
            columns: self.columns.clone(),
        })
    }

    /// Rows that the file says it has, where it says so before they are read: a claim, not a count.
    pub fn claimed_rows(&self) -> Option<u64> {
        match &self.source {
            Source::Csv(_) => None,
            Source::Parquet(reader) => Some(reader.claimed_rows()),
        }
    }

    /// Calls `visit` with the number (from 1) and the chosen cells of each row, in the order of `chosen`;
    /// gives the number of rows. Columns that are not chosen are not decoded and may have any type.
    pub fn visit(
        self,
        chosen: &[usize],
        visit: impl FnMut(u64, &[Cell<'_>]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        match self.source {
            Source::Csv(reader) => reader.visit(&self.file, chosen, visit),
            Source::Parquet(reader) => reader.visit(&self.file, chosen, visit),
        }
    }

    /// Like [`Table::visit`], but rows that are decoded together are handed out together, at most so many.
    pub(crate) fn visit_parts(
        self,
        chosen: &[usize],
        most_rows: usize,
        mut visit: impl FnMut(Part<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (file, limits) = (self.file, self.limits);
        let n_columns = self.columns.len() as u64;
        match self.source {
            Source::Csv(reader) => reader.visit(&file, chosen, |row, cells| {
                limits.check_rows(&file, row, n_columns)?;
                visit(Part::Row(row, cells))
            }),
            Source::Parquet(reader) => {
                reader.visit_batches(&file, chosen, most_rows, |batch: &Batch<'_>| {
                    let last_row = batch.first_row - 1 + batch.n_rows as u64;
                    limits.check_rows(&file, last_row, n_columns)?;
                    visit(Part::Batch(batch))
                })
            }
        }
    }

    fn check_rows(&self, rows: u64) -> Result<(), Error> {
        self.limits.check_rows(&self.file, rows, self.columns.len() as u64)
    }

    fn excess(&self, excess: Excess) -> Error {
        Error::TooMuch { file: self.file.clone(), excess }
    }
}

fn check_names(path: &Path, columns: &[String]) -> Result<(), Error> {
    for (i, column) in columns.iter().enumerate() {
        if column.is_empty() {
            return Err(Error::UnnamedColumn { file: path.to_path_buf(), position: i + 1 });
        }
    }
    let mut seen = std::collections::HashSet::new();
    match columns.iter().find(|column| !seen.insert(*column)) {
        Some(column) => {
            Err(Error::DuplicateColumn { file: path.to_path_buf(), column: column.clone() })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn kind_and_stem_come_from_the_whole_extension() {
        let split = |name: &str| split_name(Path::new(name));
        assert_eq!(split("d/a.b.csv.gz"), Some(("a.b".into(), TableKind::CsvGz)));
        assert_eq!(split("A.CSV"), Some(("A".into(), TableKind::Csv)));
        assert_eq!(split("a.parquet"), Some(("a".into(), TableKind::Parquet)));
        assert_eq!(split(".csv"), None);
        assert_eq!(split("a.txt"), None);
    }

    #[test]
    fn an_unknown_extension_is_answered_with_the_known_ones() {
        let text = TableKind::of(Path::new("a.xlsx")).unwrap_err().to_string();
        for part in ["a.xlsx", ".csv", ".csv.gz", ".parquet"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_file_of_no_bytes_is_empty_and_a_missing_one_cannot_be_read() {
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
