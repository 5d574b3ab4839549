//! What is sealed: a line of JSON, then the table as little-endian `f64`, row by row.
//!
//! Columns are the encoded features in the schema's order, then the index of the group, then the label as −1 or 1. No
//! compression, no pages, no types: the only thing to parse is a short line of JSON, and the digest of a table never
//! changes with a library's version.

use equipoise_data::Digest;
use serde::{Deserialize, Serialize};

use crate::invitation::Invitation;
use crate::key::PrivateKey;

/// Maximum length of the line of JSON.
const MAX_LINE: usize = 64 << 10;

/// Maximum absolute value of an encoded feature. Numeric features are standardised and the others are indicators, so
/// larger values are mistakes or attacks, and would only slow the solver down.
pub const MAX_ABS_FEATURE: f64 = 1e4;

/// The line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preamble {
    /// Version of the format; 1.
    pub format: u32,
    /// How the table was made. Not interpreted here.
    pub origin: serde_json::Value,
    /// How it is private, if it is. Not interpreted here.
    pub privacy: serde_json::Value,
    /// 32 secret bytes in hex, so that nobody can guess the content from its digest.
    pub secret: String,
    /// Number of rows.
    pub rows: u64,
    /// Number of columns.
    pub columns: u64,
}

/// A table and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The line of JSON.
    pub preamble: Preamble,
    /// The cells, row by row.
    pub values: Vec<f64>,
}

/// Why a client's file is excluded. Public: it never contains a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclusion {
    /// What is wrong.
    pub code: Fault,
    /// In which row, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// In which column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

/// What can be wrong with a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It was not sealed to the round's key, or not with its context.
    NotOpened,
    /// Its content is not what the client signed.
    OtherContent,
    /// Its content has another form.
    Malformed,
    /// It has no rows.
    NoRows,
    /// It has another number of columns than the schema.
    OtherColumns,
    /// A feature is NaN or infinite.
    NotFinite,
    /// A feature is too large.
    TooLarge,
    /// A group is not one of the schema's.
    UnknownGroup,
    /// A label is neither −1 nor 1.
    UnknownLabel,
}

/// An exclusion, and what only the coordinator's terminal shows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", .exclusion.sentence())]
pub struct Problem {
    /// The public part.
    pub exclusion: Exclusion,
    /// The value of the cell.
    pub value: Option<f64>,
}

impl Fault {
    fn text(self) -> &'static str {
        match self {
            Self::NotOpened => {
                "it was not sealed for this round, or was damaged before it was signed"
            }
            Self::OtherContent => "its content is not what the client signed",
            Self::Malformed => "its content is malformed",
            Self::NoRows => "it has no rows",
            Self::OtherColumns => "it has other columns than the schema",
            Self::NotFinite => "a feature is not a finite number",
            Self::TooLarge => "a feature is beyond ±10,000 after standardising",
            Self::UnknownGroup => "a group is not one of the schema's",
            Self::UnknownLabel => "a label is neither −1 nor 1",
        }
    }
}

impl Exclusion {
    /// The reason in words.
    pub fn sentence(&self) -> String {
        match (self.row, &self.column) {
            (Some(row), Some(column)) => {
                format!("{}: row {row}, column `{column}`", self.code.text())
            }
            _ => self.code.text().to_owned(),
        }
    }
}

impl Problem {
    pub(crate) fn of(code: Fault) -> Self {
        Self { exclusion: Exclusion { code, row: None, column: None }, value: None }
    }
}

impl Content {
    /// A client's table for a round. The secret is derived from the client's key and the table, so that the same
    /// table gives the same content again.
    pub fn new(
        invitation: &Invitation,
        key: &PrivateKey,
        origin: serde_json::Value,
        privacy: serde_json::Value,
        values: Vec<f64>,
    ) -> Self {
        let columns = invitation.columns().len() as u64;
        let rows = values.len() as u64 / columns;
        let secret = String::new();
        let preamble = Preamble { format: 1, origin, privacy, secret, rows, columns };
        let mut content = Self { preamble, values };
        let derived = key.derive(&invitation.digest.to_string(), &content.to_bytes());
        content.preamble.secret = Digest::of(&derived).to_string();
        content
    }

    /// The bytes that are sealed.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Text, numbers and JSON.
        let mut bytes = serde_json::to_vec(&self.preamble).expect("a preamble is plain data");
        bytes.push(b'\n');
        bytes.reserve_exact(8 * self.values.len());
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// Parses the bytes. The array must have exactly the announced size.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let malformed = || Problem::of(Fault::Malformed);
        let end = bytes.iter().take(MAX_LINE).position(|byte| *byte == b'\n');
        let (line, array) = bytes.split_at(end.ok_or_else(malformed)?);
        let (cells, rest) = array[1..].as_chunks::<8>();
        let preamble: Preamble = serde_json::from_slice(line).map_err(|_| malformed())?;
        let expected = preamble.rows.checked_mul(preamble.columns);
        let is_exact = expected == Some(cells.len() as u64) && rest.is_empty();
        let is_secret = preamble.secret.parse::<Digest>().is_ok();
        match is_exact && is_secret && preamble.format == 1 {
            true => Ok(Self {
                preamble,
                values: cells.iter().map(|v| f64::from_le_bytes(*v)).collect(),
            }),
            false => Err(malformed()),
        }
    }

    /// Checks every cell against the schema. The client and the coordinator use the same rules.
    pub fn check(&self, invitation: &Invitation) -> Result<(), Problem> {
        let columns = invitation.columns();
        if self.preamble.columns != columns.len() as u64 {
            return Err(Problem::of(Fault::OtherColumns));
        }
        if self.values.is_empty() {
            return Err(Problem::of(Fault::NoRows));
        }
        let n_groups = invitation.schema.sensitive.groups.len();
        let (group, label) = (columns.len() - 2, columns.len() - 1);
        for (at, value) in self.values.iter().enumerate() {
            let column = at % columns.len();
            let is_group = |value: f64| (0..n_groups).any(|group| value == group as f64);
            let code = match () {
                () if column == label && value.abs() != 1.0 => Fault::UnknownLabel,
                () if column == group && !is_group(*value) => Fault::UnknownGroup,
                () if column < group && !value.is_finite() => Fault::NotFinite,
                () if column < group && value.abs() > MAX_ABS_FEATURE => Fault::TooLarge,
                () => continue,
            };
            let row = Some((at / columns.len()) as u64 + 1);
            let exclusion = Exclusion { code, row, column: Some(columns[column].clone()) };
            return Err(Problem { exclusion, value: Some(*value) });
        }
        Ok(())
    }

    /// The features, group and label of each row.
    pub fn rows(&self) -> impl Iterator<Item = (&[f64], u8, bool)> {
        let width = self.preamble.columns as usize;
        self.values.chunks_exact(width.max(2)).map(|row| {
            let (features, roles) = row.split_at(row.len() - 2);
            (features, roles[0] as u8, roles[1] > 0.0)
        })
    }
}
