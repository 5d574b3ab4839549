//! The options that name columns, and how they are parsed.

use clap::Args;

/// Columns that are left out or whose kind is decided by the user.
#[derive(Debug, Args)]
pub(super) struct ColumnArgs {
    /// Columns to ignore
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub(super) drop: Vec<String>,
    /// Columns to treat as categorical even if they hold numbers
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub(super) categorical: Vec<String>,
    /// Columns to treat as numeric even if they hold only a few integers; text in them is an error
    #[arg(long, value_name = "COL", num_args = 1..)]
    pub(super) numeric: Vec<String>,
}

/// The label and the sensitive columns, which a table must have.
pub(crate) fn names_of<'a>(
    label: &'a str,
    sensitive: &'a [(String, Option<String>)],
) -> Vec<&'a str> {
    sensitive.iter().map(|(column, _)| column.as_str()).chain([label]).collect()
}

/// A column, or a column and a value.
pub(crate) fn parse_column(text: &str) -> Result<(String, Option<String>), String> {
    if text.contains('=') {
        return parse_pair(text).map(|(column, value)| (column, Some(value)));
    }
    match text.trim() {
        "" => Err("must have the form COLUMN or COLUMN=VALUE, such as sex=male".to_string()),
        column => Ok((column.to_string(), None)),
    }
}

/// Splits at the first `=`.
pub(crate) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, value)) if !column.trim().is_empty() && !value.trim().is_empty() => {
            Ok((column.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("must have the form COLUMN=VALUE, such as passed=1".to_string()),
    }
}
