//! Where a table comes from: a file that is yet to be opened, or a table that is open, such as one in memory.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::proxy::{Declaration, ProxyOrigin};
use crate::read_limits::ReadLimits;
use crate::table::{Delimiter, Table, TableFile, TableKind, open_encoded_table, open_table};

/// A file, or an open table.
#[derive(Debug)]
pub enum TableSource {
    /// A file, whose extension names its format.
    File {
        /// The file.
        path: PathBuf,
        /// What separates the cells of a CSV file. `None`: it is detected.
        delimiter: Option<Delimiter>,
    },
    /// An open table.
    Open(Box<Table>),
}

impl TableSource {
    /// The file, or the name of the table, for messages.
    pub fn name(&self) -> &Path {
        match self {
            Self::File { path, .. } => path,
            Self::Open(table) => table.file(),
        }
    }

    /// What a proxy says about its privacy.
    pub(crate) fn declared(&self) -> Result<ProxyOrigin, Error> {
        match self {
            Self::File { path, .. } => ProxyOrigin::read(path),
            Self::Open(table) => Declaration::of(table).read(table.file()),
        }
    }

    /// The same, as it is stored. The reader of the rows reports a file that is broken.
    pub(crate) fn declaration(&self) -> Declaration {
        match self {
            Self::File { path, .. } => match TableKind::of(path) {
                Ok(TableKind::Parquet) => open_table(path)
                    .map_or_else(|_| Declaration::default(), |table| Declaration::of(&table)),
                _ => Declaration::default(),
            },
            Self::Open(table) => Declaration::of(table),
        }
    }

    /// Opens a table of raw rows. The columns that it should have help to detect the delimiter of a CSV file.
    pub fn open(self, columns: &[&str]) -> Result<Table, Error> {
        match self {
            Self::File { path, delimiter } => {
                open_table(TableFile { path: &path, delimiter, columns: columns.to_vec() })
            }
            Self::Open(table) => Ok(*table),
        }
    }

    /// Opens a table of encoded rows, of which at most `limits` will be read.
    pub(crate) fn open_encoded(self, limits: ReadLimits) -> Result<Table, Error> {
        match self {
            Self::File { path, .. } => open_encoded_table(&path, limits),
            Self::Open(table) => Ok(table.within(limits)),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for TableSource {
    fn from(path: &P) -> Self {
        Self::File { path: path.as_ref().to_path_buf(), delimiter: None }
    }
}

impl From<TableFile<'_>> for TableSource {
    fn from(file: TableFile<'_>) -> Self {
        Self::File { path: file.path.to_path_buf(), delimiter: file.delimiter }
    }
}

impl From<Table> for TableSource {
    fn from(table: Table) -> Self {
        Self::Open(Box::new(table))
    }
}
