//! Everything that can stop a file from being read or written.
//!
//! Rows are counted from 1 and the header is not counted, in CSV and Parquet alike.

mod cell;
mod list;

use std::path::PathBuf;

pub use cell::CellProblem;
pub(crate) use list::list;

use crate::model::ModelProblem;
use crate::outcome::OutcomeProblem;
use crate::read_limits::Excess;
use crate::schema::SchemaProblem;

/// Why a file could not be read or written: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system could not read the file or folder.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The operating system could not write the file or folder.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// More than whoever reads the file wants to take.
    #[error("{file}: {excess}")]
    TooMuch {
        /// The file.
        file: PathBuf,
        /// Of what.
        excess: Excess,
    },
    /// Rows that do not fit into memory could not be put aside, or not be read again.
    #[error(
        "{folder}: the scratch file for rows that do not fit into memory cannot be used (it holds {}): {source}. \
         Make room there, name another folder that is on a disk with room, or allow more memory.",
        in_words(*bytes)
    )]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// Bytes that the file holds.
        bytes: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// The memory that is allowed does not even suffice to read the proxies piece by piece.
    #[error(
        "{} of memory are too little for rows of {n} entries: at least {} are needed.",
        in_words(*found as u64),
        in_words((*least as u64).next_multiple_of(1 << 20))
    )]
    TooLittleMemory {
        /// Bytes allowed.
        found: usize,
        /// Bytes needed.
        least: usize,
        /// Entries of a row.
        n: usize,
    },
    /// The name does not say what kind of table this is.
    #[error(
        "{file}: is no table that can be read or written here. Use a name that ends in .csv, .csv.gz or .parquet."
    )]
    UnknownTableKind {
        /// The file.
        file: PathBuf,
    },
    /// The file has no content, not even a header.
    #[error("{file}: is empty. A table begins with a header that names its columns.")]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// The table has columns but no rows.
    #[error("{file}: has a header but no rows. {purpose} needs at least one row.")]
    NoRows {
        /// The file.
        file: PathBuf,
        /// What the table was wanted for.
        purpose: Purpose,
    },
    /// Two columns have the same name.
    #[error("{file}: the header has column `{column}` twice. Rename or remove one of them.")]
    DuplicateColumn {
        /// The file.
        file: PathBuf,
        /// The name that comes twice.
        column: String,
    },
    /// A column has no name.
    #[error(
        "{file}: column {position} of the header has no name. Name it, or remove it: some programs write row numbers that way."
    )]
    UnnamedColumn {
        /// The file.
        file: PathBuf,
        /// Which column, counted from 1.
        position: usize,
    },
    /// A row has another number of cells than the header.
    #[error(
        "{file}, row {row} (line {line}): has {found} cells, but the header has {expected} columns. Look for a missing or an unquoted comma."
    )]
    RaggedRow {
        /// The file.
        file: PathBuf,
        /// Data row, counted from 1.
        row: u64,
        /// Line of the file, counted from 1.
        line: u64,
        /// Columns of the header.
        expected: u64,
        /// Cells of the row.
        found: u64,
    },
    /// A CSV file holds bytes that are not UTF-8.
    #[error("{file}, line {line}: is not UTF-8 text. Save the table as UTF-8.")]
    NotUtf8 {
        /// The file.
        file: PathBuf,
        /// Line of the file, counted from 1.
        line: u64,
    },
    /// A Parquet file is damaged, or is no Parquet file.
    #[error("{file}: is not a sound Parquet file: {reason}. Write it again, or send it as .csv.")]
    Parquet {
        /// The file.
        file: PathBuf,
        /// What the decoder said.
        reason: String,
    },
    /// A Parquet column is neither of numbers, truth values nor text.
    #[error(
        "{file}, column `{column}`: has type {kind}, but only numbers, truth values and text can be used. Convert the column, or drop it."
    )]
    ColumnType {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A column that is needed is not in the table.
    #[error("{file}: has no column `{column}`.{}", hint(close, columns))]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The column that is needed.
        column: String,
        /// Columns of the table with nearly that name.
        close: Vec<String>,
        /// All columns of the table.
        columns: Vec<String>,
    },
    /// A raw table has a column that the schema does not speak of.
    #[error(
        "{file}: column `{column}` is not in the schema. Drop it from the table, or list it under `ignore` in the schema."
    )]
    ExtraColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
    },
    /// A proxy has a column that the encoding does not have.
    #[error(
        "{file}: column `{column}` is no column of a proxy under this schema. A proxy has the encoded features, then `{sensitive}` and `{label}`, and nothing else: is this a table of raw rows?"
    )]
    ExtraProxyColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The schema's sensitive column.
        sensitive: String,
        /// The schema's label column.
        label: String,
    },
    /// One cell is wrong.
    #[error("{file}, row {row}, column `{column}`: {problem}")]
    Cell {
        /// The file.
        file: PathBuf,
        /// Data row, counted from 1.
        row: u64,
        /// The column.
        column: String,
        /// What the cell holds; nothing where the value is missing.
        value: String,
        /// What is wrong with it.
        problem: Box<CellProblem>,
    },
    /// The value that shall mean "positive" or "privileged" is not in the table.
    #[error(
        "{file}, column `{column}`: the value `{value}` never occurs. The column has {}. Name one of them.",
        list(seen)
    )]
    ValueNeverOccurs {
        /// The file.
        file: PathBuf,
        /// The label or the sensitive column.
        column: String,
        /// The value looked for.
        value: String,
        /// Values that do occur, at most eleven.
        seen: Vec<String>,
    },
    /// A text column has too many different values to be one-hot encoded.
    #[error(
        "{file}, column `{column}`: has more than {limit} different values, too many for a categorical feature. Leave it out with --drop {column}, or, where it holds numbers, use --numeric {column}."
    )]
    TooManyLevels {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The largest number of levels.
        limit: usize,
    },
    /// A column was given two roles.
    #[error(
        "column `{column}` is named twice among label, sensitive, dropped, categorical and numeric columns. Name it once."
    )]
    ColumnTwice {
        /// The column.
        column: String,
    },
    /// A schema is not TOML of the right shape.
    #[error("{file}: is not a schema: {source}")]
    SchemaSyntax {
        /// The file.
        file: PathBuf,
        /// What and where.
        source: Box<toml::de::Error>,
    },
    /// A schema contradicts itself.
    #[error("{}: {problem}", place(file, "the schema"))]
    Schema {
        /// The file, where the schema came from one.
        file: Option<PathBuf>,
        /// What is wrong.
        problem: SchemaProblem,
    },
    /// JSON that does not have the right shape.
    #[error("{file}: is not a model: {source}")]
    ModelSyntax {
        /// The file.
        file: PathBuf,
        /// What and where.
        source: serde_json::Error,
    },
    /// A model contradicts its schema.
    #[error("{}: {problem}", place(file, "the model"))]
    Model {
        /// The file, where the model came from one.
        file: Option<PathBuf>,
        /// What is wrong.
        problem: ModelProblem,
    },
    /// JSON that does not have the shape of an outcome.
    #[error("{file}: is not an outcome: {source}")]
    OutcomeSyntax {
        /// The file.
        file: PathBuf,
        /// What and where.
        source: serde_json::Error,
    },
    /// An outcome contradicts itself.
    #[error("{}: {problem}", place(file, "the outcome"))]
    Outcome {
        /// The file, where the outcome came from one.
        file: Option<PathBuf>,
        /// What is wrong.
        problem: OutcomeProblem,
    },
    /// The roots of all clients together cannot measure fairness.
    #[error("{folder}, column `{column}`: {source}")]
    Root {
        /// The folder of roots.
        folder: PathBuf,
        /// The sensitive column.
        column: String,
        /// What is missing.
        source: equipoise_core::Error,
    },
    /// A folder of clients holds something that is not a table.
    #[error(
        "{file}: does not belong in a folder of clients, which holds one .csv, .csv.gz or .parquet file per client. Move it elsewhere."
    )]
    UnexpectedFile {
        /// The file or folder.
        file: PathBuf,
    },
    /// A folder of clients has no table.
    #[error(
        "{folder}: holds no client. Put one .csv, .csv.gz or .parquet file per client there, named by the client."
    )]
    NoClients {
        /// The folder.
        folder: PathBuf,
    },
    /// Two files of a folder belong to one client.
    #[error("client `{client}` has two files, {first} and {second}. Keep one of them.")]
    DuplicateClient {
        /// The client.
        client: String,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Proxies and roots are not of the same clients.
    #[error(
        "proxies and roots must be of the same clients.{}",
        unmatched(without_root, without_proxy)
    )]
    UnmatchedClients {
        /// Clients with a proxy only.
        without_root: Vec<String>,
        /// Clients with a root only.
        without_proxy: Vec<String>,
    },
    /// Rows were encoded by another schema.
    #[error(
        "the schema encodes rows of {expected} entries (intercept: {expected_intercept}), but these rows have {found} (intercept: {found_intercept})"
    )]
    Layout {
        /// Entries per row under the schema.
        expected: usize,
        /// Whether the schema has an intercept.
        expected_intercept: bool,
        /// Entries per row found.
        found: usize,
        /// Whether the rows have an intercept.
        found_intercept: bool,
    },
    /// The file or folder to be written is already there.
    #[error("{file}: already exists. Choose another name, or use --force to replace it.")]
    Exists {
        /// The file or folder.
        file: PathBuf,
    },
    /// The folder that the output belongs in does not exist.
    #[error("{file}: cannot be written, for the folder {folder} does not exist. Create it first.")]
    NoParent {
        /// The output.
        file: PathBuf,
        /// The missing folder.
        folder: PathBuf,
    },
    /// The output names something that is there and is not a regular file.
    #[error("{file}: is not a regular file and is not replaced. Choose another name.")]
    NotAFile {
        /// The path.
        file: PathBuf,
    },
    /// The output folder is there and may hold somebody's work.
    #[error(
        "{folder}: is not replaced, not even with --force, for it is not empty and does not look like an output of this program. Choose another name."
    )]
    NotOurFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// Checked rows could not be built. The readers check all that core checks, so this is a bug of ours.
    #[error(transparent)]
    Rows(#[from] equipoise_core::Error),
}

/// What a table was wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Raw rows of a client, or to test a model on.
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
            Self::Data => "A table of data",
            Self::Root => "A root",
            Self::Proxy => "A proxy",
            Self::Prediction => "A table to predict for",
        })
    }
}

fn hint(close: &[String], columns: &[String]) -> String {
    let close = match close {
        [] => String::new(),
        _ => format!(" Did you mean {}?", list(close)),
    };
    format!("{close} The table has {}.", list(columns))
}

/// A size as people say it, rounded up in its last digit.
fn in_words(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => {
            format!("{:.1} {name}", (10.0 * bytes as f64 / unit as f64).ceil() / 10.0)
        }
        None => format!("{bytes} bytes"),
    }
}

fn place(file: &Option<PathBuf>, otherwise: &str) -> String {
    file.as_ref().map_or_else(|| otherwise.to_string(), |f| f.display().to_string())
}

fn unmatched(without_root: &[String], without_proxy: &[String]) -> String {
    let mut text = String::new();
    if !without_root.is_empty() {
        text += &format!(" Without a root: {}.", list(without_root));
    }
    if !without_proxy.is_empty() {
        text += &format!(" Without a proxy: {}.", list(without_proxy));
    }
    text
}
