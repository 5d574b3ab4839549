//! What can be wrong with a table or one of its cells.

use std::path::Path;

use super::{Error, Purpose, list};

/// What is wrong with a table. File, row and column are in [`Error::Table`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// The file extension is not that of a supported format.
    #[error("unsupported table format. Use a name that ends in .csv, .csv.gz or .parquet.")]
    UnknownKind,
    /// The file has no content, not even a header.
    #[error("the file is empty. A table begins with a header that names its columns.")]
    Empty,
    /// The table has columns but no rows.
    #[error("the table has a header but no rows. {0} needs at least one row.")]
    NoRows(Purpose),
    /// The table has more rows than accepted.
    #[error("the table has {found} rows or more, but at most {limit} are accepted.")]
    TooManyRows {
        /// Rows seen or claimed.
        found: u64,
        /// Maximum number of rows.
        limit: u64,
    },
    /// The table has more columns than accepted.
    #[error("the table has {found} columns, but at most {limit} are accepted.")]
    TooManyColumns {
        /// Columns of the header.
        found: u64,
        /// Maximum number of columns.
        limit: u64,
    },
    /// The decoded table has more bytes than this.
    #[error("the table is larger than {0} bytes when decoded.")]
    TooManyBytes(u64),
    /// A row of CSV has more bytes than this.
    #[error("a row is longer than {0} bytes.")]
    RowTooLong(u64),
    /// Two columns have the same name.
    #[error("the header has this column twice. Rename or remove one of them.")]
    DuplicateColumn,
    /// A column, counted from 1, has no name.
    #[error(
        "column {0} of the header has no name. Name or remove it; some programs write row numbers that way."
    )]
    UnnamedColumn(usize),
    /// A row has more or fewer cells than the header.
    #[error(
        "line {line} has {found} cells, but the header has {expected} columns. Look for a missing or unquoted comma."
    )]
    RaggedRow {
        /// Line of the file, counted from 1.
        line: u64,
        /// Columns of the header.
        expected: u64,
        /// Cells of the row.
        found: u64,
    },
    /// A line of CSV, counted from 1, is not UTF-8.
    #[error("line {0} is not UTF-8 text. Save the table as UTF-8.")]
    NotUtf8(u64),
    /// The file is damaged, or not Parquet.
    #[error("not a valid Parquet file: {0}. Write it again, or use .csv.")]
    Parquet(String),
    /// A Parquet column has this type, which is neither number, boolean nor text.
    #[error(
        "type {0} is not supported, only numbers, booleans and text. Convert or drop the column."
    )]
    ColumnType(String),
    /// A required column is missing.
    #[error("the table has no such column.{} It has {}.", suggest(close), list(columns))]
    MissingColumn {
        /// Columns of the table with a similar name.
        close: Vec<String>,
        /// All columns of the table.
        columns: Vec<String>,
    },
    /// A raw table has a column that is not in the schema.
    #[error("not in the schema. Drop it from the table, or list it under `ignore` in the schema.")]
    ExtraColumn,
    /// A proxy has a column that the encoding does not have.
    #[error(
        "not a column of a proxy under this schema. A proxy has the encoded features, then `{sensitive}` and `{label}`, and nothing else. Is this a table of raw rows?"
    )]
    ExtraProxyColumn {
        /// The schema's sensitive column.
        sensitive: String,
        /// The schema's label column.
        label: String,
    },
    /// The positive or privileged value is not in the table.
    #[error("the value `{value}` never occurs. The column has {}. Choose one of them.", list(seen))]
    ValueNeverOccurs {
        /// The value.
        value: String,
        /// Values that do occur, at most eleven.
        seen: Vec<String>,
    },
    /// A text column has too many distinct values to be one-hot encoded.
    #[error(
        "more than {limit} distinct values are too many for a categorical feature. Leave it out with --drop {column}, or use --numeric {column} if it holds numbers."
    )]
    TooManyLevels {
        /// The column.
        column: String,
        /// Maximum number of levels.
        limit: usize,
    },
    /// Text where the schema has a number.
    #[error(
        "`{0}` is not a number. Correct the value, or declare the column categorical in the schema."
    )]
    NotANumber(String),
    /// Infinite, or beyond the range of a 64-bit float.
    #[error("`{0}` is not a finite number. Correct the value.")]
    NotFinite(String),
    /// An encoded number too large to compute with.
    #[error(
        "`{0}` is beyond ±1e12, while encoded values are about 1. Encode the rows with the schema."
    )]
    TooLarge(String),
    /// A number too large to compute with after centring and scaling.
    #[error(
        "`{value}` is beyond ±1e12 after (value − {center:e}) / {scale:e}. Correct the value, or the schema's center and scale."
    )]
    OverflowsWhenScaled {
        /// The cell.
        value: String,
        /// The schema's center.
        center: f64,
        /// The schema's scale.
        scale: f64,
    },
    /// A category that the schema does not list.
    #[error(
        "`{value}` is not one of the levels {}. Correct the value, or agree on a schema that includes it.",
        list(levels)
    )]
    UnknownLevel {
        /// The cell.
        value: String,
        /// The levels of the schema.
        levels: Vec<String>,
    },
    /// No value, and the schema has no `fill` for the feature.
    #[error("the value is missing. Complete or remove the row, or add a `fill` to the schema.")]
    Missing,
    /// No value for the label or the sensitive attribute.
    #[error("the {0} is missing and cannot be filled. Complete or remove the row.")]
    MissingRole(&'static str),
    /// No value in a proxy.
    #[error("the value is missing. Every cell of a proxy must be a finite number.")]
    MissingInProxy,
    /// Text in a proxy.
    #[error("`{0}` is not a number. Was this table encoded with the schema, as a proxy must be?")]
    NotEncoded(String),
    /// A sensitive attribute or label in a proxy that is not one of its two codes.
    #[error("`{value}` is neither {first} nor {second}, the two values of this column in a proxy.")]
    NotACode {
        /// The cell.
        value: String,
        /// One code.
        first: i8,
        /// The other.
        second: i8,
    },
}

impl TableProblem {
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

fn suggest(close: &[String]) -> String {
    match close {
        [] => String::new(),
        _ => format!(" Did you mean {}?", list(close)),
    }
}
