//! A table to be opened.

use std::path::Path;

use super::Delimiter;

/// A table to be opened, and what is known about it. A path alone will do.
#[derive(Debug, Clone)]
pub struct TableFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// What separates the cells of a CSV file. `None`: it is detected.
    pub delimiter: Option<Delimiter>,
    /// Columns that the table should have, which help to detect the delimiter.
    pub columns: Vec<&'a str>,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for TableFile<'a> {
    fn from(path: &'a P) -> Self {
        Self { path: path.as_ref(), delimiter: None, columns: Vec::new() }
    }
}
