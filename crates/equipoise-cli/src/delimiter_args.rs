//! The option that says what separates the cells of a CSV file.

use std::path::Path;

use clap::Args;
use equipoise_data::{Delimiter, Error, Table, TableFile, open_table};

/// How the raw table is written, where that cannot be detected.
#[derive(Debug, Args)]
pub(crate) struct DelimiterArgs {
    /// Delimiter of the raw CSV table: comma, semicolon, tab or pipe [default: detected]
    #[arg(long, value_name = "DELIMITER")]
    delimiter: Option<Delimiter>,
}

impl DelimiterArgs {
    /// The table at this path, with this delimiter.
    pub(crate) fn of<'a>(&self, path: &'a Path) -> TableFile<'a> {
        TableFile { delimiter: self.delimiter, ..path.into() }
    }

    /// Opens the table at this path, which should have these columns.
    pub(crate) fn open(&self, path: &Path, columns: &[&str]) -> Result<Table, Error> {
        open_table(TableFile { columns: columns.to_vec(), ..self.of(path) })
    }
}
