//! Where a table comes from: a file that is yet to be opened, or a table that is open, such as one in memory.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::read_limits::ReadLimits;
use crate::table::{Table, open_table_within};

/// A file, or an open table.
#[derive(Debug)]
pub enum TableSource {
    /// A file, whose extension names its format.
    File(PathBuf),
    /// An open table.
    Open(Box<Table>),
}

impl TableSource {
    /// The file, or the name of the table, for messages.
    pub fn name(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Open(table) => table.file(),
        }
    }

    /// Opens the table, of which at most `limits` will be read.
    pub(crate) fn open_within(self, limits: ReadLimits) -> Result<Table, Error> {
        match self {
            Self::File(path) => open_table_within(&path, limits),
            Self::Open(table) => Ok(table.within(limits)),
        }
    }

    /// Opens the table.
    pub fn open(self) -> Result<Table, Error> {
        self.open_within(ReadLimits::NONE)
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for TableSource {
    fn from(path: &P) -> Self {
        Self::File(path.as_ref().to_path_buf())
    }
}

impl From<Table> for TableSource {
    fn from(table: Table) -> Self {
        Self::Open(Box::new(table))
    }
}
