//! What can be wrong with a table or one of its cells.

use std::path::Path;

use super::{Error, Purpose, number_with_comma::number_with_comma};

/// What is wrong with a table or a cell, and what to do about it. File, row and column are in [`Error::Table`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableProblem {
    /// The value of the cell, if that is what is wrong.
    pub(super) value: Option<String>,
    /// What is wrong, as a clause that follows the value.
    pub(super) problem: String,
    /// What to do. Empty if the problem says it.
    pub(super) remedy: String,
}

impl std::error::Error for TableProblem {}

impl std::fmt::Display for TableProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.statement())?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, ". {}", self.remedy) }
    }
}

impl TableProblem {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { value: None, problem: problem.into(), remedy: String::new() }
    }

    /// A problem with the value of a cell, as a clause that follows the value, and what to do.
    pub(crate) fn of_value(
        value: impl std::fmt::Display,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let value = Some(printable(&value.to_string()));
        Self { value, problem: problem.into(), remedy: remedy.into() }
    }

    /// A problem with a cell or a row that no single value is to blame for, as a sentence without its full stop.
    pub(crate) fn of_cell(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { value: None, problem: problem.into(), remedy: remedy.into() }
    }

    /// The same problem with another remedy after its own.
    pub(crate) fn or(mut self, remedy: &str) -> Self {
        self.remedy += &format!(" {remedy}");
        self
    }

    /// What is wrong, without what to do: "`abc` is not a number".
    pub fn statement(&self) -> String {
        let value = self.value.as_ref().map(|value| format!("`{value}` ")).unwrap_or_default();
        value + &self.problem
    }

    /// What is wrong, without the value: the same for all cells with this problem.
    pub fn kind(&self) -> &str {
        &self.problem
    }

    pub(crate) fn empty() -> Self {
        Self::new("the file is empty. A table begins with a header that names its columns.")
    }

    pub(crate) fn no_rows(purpose: Purpose) -> Self {
        Self::new(format!("the table has a header but no rows. {purpose} needs at least one row."))
    }

    pub(crate) fn too_many_bytes(limit: u64) -> Self {
        Self::new(format!("the table is larger than {limit} bytes when decoded."))
    }

    pub(crate) fn not_utf8(line: u64) -> Self {
        Self::new(format!("line {line} is not UTF-8 text. Save the table as UTF-8."))
    }

    /// Text instead of a number. The remedy is another one if the value is a number with a comma.
    pub(crate) fn not_a_number(value: impl std::fmt::Display, remedy: impl Into<String>) -> Self {
        let value = value.to_string();
        number_with_comma(&value)
            .unwrap_or_else(|| Self::of_value(value, "is not a number", remedy))
    }

    pub(crate) fn not_finite(value: impl std::fmt::Display) -> Self {
        Self::of_value(value, "is not a finite number", "Correct the value.")
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
        Error::Table { file, row, column, problem: Box::new(self) }
    }
}

/// Longest value that is shown in full, in characters.
const MAX_SHOWN: usize = 60;

/// Text for a terminal: one short line.
pub(super) fn printable(text: &str) -> String {
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().collect(),
        false => c.to_string(),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => text[..end].chars().map(escape).collect::<String>() + "…",
        None => text.chars().map(escape).collect(),
    }
}
