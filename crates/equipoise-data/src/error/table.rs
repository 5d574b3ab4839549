//! What can be wrong with a table or one of its cells.

use std::path::Path;

use super::{Error, Purpose};

/// What is wrong with a table, and what to do about it. File, row and column are in [`Error::Table`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TableProblem(String);

impl TableProblem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn empty() -> Self {
        Self::new("the file is empty. A table begins with a header that names its columns.")
    }

    pub(crate) fn no_rows(purpose: Purpose) -> Self {
        Self(format!("the table has a header but no rows. {purpose} needs at least one row."))
    }

    pub(crate) fn too_many_bytes(limit: u64) -> Self {
        Self(format!("the table is larger than {limit} bytes when decoded."))
    }

    pub(crate) fn not_utf8(line: u64) -> Self {
        Self(format!("line {line} is not UTF-8 text. Save the table as UTF-8."))
    }

    pub(crate) fn not_a_number(value: impl std::fmt::Display) -> Self {
        Self(format!(
            "`{value}` is not a number. Correct the value, or declare the column categorical in the schema."
        ))
    }

    pub(crate) fn not_finite(value: impl std::fmt::Display) -> Self {
        Self(format!("`{value}` is not a finite number. Correct the value."))
    }

    pub(crate) fn in_file(self, file: &Path) -> Error {
        self.at(file, None, None)
    }

    pub(crate) fn in_column(self, file: &Path, column: &str) -> Error {
        self.at(file, None, Some(column))
    }

    pub(crate) fn in_cell(self, file: &Path, row: u64, column: &str) -> Error {
        self.at(file, Some(row), Some(column))
    }

    pub(crate) fn at(self, file: &Path, row: Option<u64>, column: Option<&str>) -> Error {
        let (file, column) = (file.to_path_buf(), column.map(str::to_owned));
        Error::Table { file, row, column, problem: self }
    }
}
