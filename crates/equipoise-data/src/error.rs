//! Why a file could not be read or written.
//!
//! Rows are counted from 1, without the header, in both CSV and Parquet.

mod bad_cells;
mod number_with_comma;
mod table;

use std::path::{Path, PathBuf};

use crate::schema::LabelValues;

pub use bad_cells::BadCells;
pub(crate) use number_with_comma::number_with_comma;
pub use table::TableProblem;

/// Why a file could not be read or written: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system could not read the file or folder.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The operating system could not write the file or folder.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A table, or one of its cells, is invalid.
    #[error("{file}{}: {problem}", location(*row, column))]
    Table {
        /// The file.
        file: PathBuf,
        /// The row, counted from 1, if the problem is in one.
        row: Option<u64>,
        /// The column, if the problem is in one.
        column: Option<String>,
        /// What is wrong. In a box, because errors are returned by many functions and should be small.
        problem: Box<TableProblem>,
    },
    /// Several cells of a table are invalid.
    #[error("{file}: {cells}")]
    Cells {
        /// The file.
        file: PathBuf,
        /// The first of the cells, and how many there are.
        cells: BadCells,
    },
    /// The label has more than two values, and nobody confirmed that all but one are negative.
    #[error("{file}, column `{column}`: {values}")]
    ManyLabels {
        /// The file.
        file: PathBuf,
        /// The label column.
        column: String,
        /// The values.
        values: LabelValues,
    },
    /// An input contradicts itself or another input, or an output path cannot be used. The text says where and what
    /// to do.
    #[error("{0}")]
    Invalid(String),
    /// The trusted rows cannot measure fairness.
    #[error("{file}, column `{column}`: {source}")]
    Root {
        /// Their file or folder.
        file: PathBuf,
        /// The sensitive column.
        column: String,
        /// What is missing.
        source: equipoise_core::Error,
    },
    /// The output already exists.
    #[error("{0}: already exists. Choose another name, or use --force to replace it.")]
    Exists(PathBuf),
    /// The output folder exists and may hold other work.
    #[error(
        "{0}: is not replaced, even with --force, because it is not empty and does not look like output of Equipoise. Choose another name."
    )]
    NotOurFolder(PathBuf),
    /// Checked rows could not be built. The readers check everything that core checks, so this is a bug.
    #[error(transparent)]
    Rows(#[from] equipoise_core::Error),
}

impl Error {
    /// A schema, model or outcome that cannot be parsed or contradicts itself.
    pub(crate) fn in_document(file: &Path, problem: impl std::fmt::Display) -> Self {
        Self::Invalid(format!("{}: {problem}", file.display()))
    }
}

/// What a table is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Raw rows of a client, or raw rows to test a model on.
    Data,
    /// Raw rows that the server trusts.
    Root,
    /// Encoded rows that a client sends.
    Proxy,
    /// Raw rows to be scored.
    Prediction,
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Data => "A data table",
            Self::Root => "A table of trusted rows",
            Self::Proxy => "A proxy",
            Self::Prediction => "A table to score",
        })
    }
}

/// `` `a`, `b`, `c` ``, and " and more" after ten of them.
pub(crate) fn list(items: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = items.iter().take(SHOWN).map(|item| format!("`{item}`")).collect();
    let more = if items.len() > SHOWN { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// ", row 3, column `age`".
fn location(row: Option<u64>, column: &Option<String>) -> String {
    let row = row.map(|row| format!(", row {row}")).unwrap_or_default();
    let column = column.as_ref().map(|column| format!(", column `{column}`")).unwrap_or_default();
    row + &column
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn lists_stop_after_ten() {
        let names: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        assert_eq!(list(&names[..2]), "`0`, `1`");
        assert!(list(&names[..10]).ends_with("`9`"));
        assert!(list(&names).ends_with("`9` and more"));
    }
}
