//! The description of a client's table: what a schema is agreed from, without rows.

mod check;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::stamp::Stamp;

pub(super) const FORMAT: &str = "equipoise-description";
pub(super) const VERSION: u32 = 1;

/// A description of a client's table, as in its JSON file. Values that occur in fewer than `min_rows` rows are not in
/// it; their rows are only counted, as `withheld`, and are left out of every other figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    pub(super) format: String,
    pub(super) version: u32,
    /// The client.
    pub client: String,
    /// The number of rows.
    pub rows: u64,
    /// Values that occur in fewer rows than this are withheld.
    pub min_rows: u64,
    /// What is withheld, in words, for whoever reads the file.
    pub rule: String,
    /// The label column, and its positive value if the client named one.
    pub label: RoleColumn,
    /// The sensitive columns, each with its value in the reference group if the client named one.
    pub sensitive: Vec<RoleColumn>,
    /// Columns that the client leaves out. Only their names are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// All other columns of the table, in its order.
    pub columns: Vec<DescribedColumn>,
    /// How often each combination of the sensitive columns' values occurs.
    pub groups: Vec<GroupRows>,
    /// Rows with other combinations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld_groups: u64,
}

/// The label column or a sensitive column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleColumn {
    /// The column.
    pub column: String,
    /// The positive value, or the value of the reference group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What is known of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedColumn {
    /// Its name.
    pub column: String,
    /// Its kind in this client's table.
    pub kind: ColumnKind,
    /// Whether the client decided the kind, not the values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub declared: bool,
    /// Rows without a value.
    pub missing: u64,
    /// Rows with a value that is withheld.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u64,
    /// Mean and variance of a numeric column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<Moments>,
    /// The values and their counts; none for a numeric column with many values, or a sensitive column, whose values are
    /// among the groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<ValueRows>>,
}

/// The kinds of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// What the model predicts.
    Label,
    /// Decides the group.
    Sensitive,
    /// Only numbers.
    Numeric,
    /// Some text, or declared categorical.
    Categorical,
}

impl ColumnKind {
    pub(super) fn is_role(self) -> bool {
        matches!(self, Self::Label | Self::Sensitive)
    }
}

/// Mean and variance of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moments {
    /// How many numbers there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their population variance.
    pub variance: f64,
}

/// A value and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueRows {
    /// The value.
    pub value: String,
    /// Its rows.
    pub rows: u64,
}

/// A combination of values and how often it occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupRows {
    /// One value per sensitive column.
    pub values: Vec<String>,
    /// Its rows.
    pub rows: u64,
}

impl Description {
    /// Reads and checks a description.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_json(&text, path)
    }

    /// Parses and checks a description. `file` is its source, for error messages.
    pub fn from_json(text: &str, file: &Path) -> Result<Self, Error> {
        let wrong = |problem| Error::in_document(file, problem);
        let syntax = |error: serde_json::Error| {
            wrong(format!("not a description written by `schema describe`: {error}"))
        };
        let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
        stamp.check(("a", "description"), FORMAT, VERSION).map_err(wrong)?;
        let description: Self = serde_json::from_str(text).map_err(syntax)?;
        check::check(&description).map_err(wrong)?;
        Ok(description)
    }

    /// The description as JSON, which parses back bit for bit.
    pub fn to_json(&self) -> String {
        // Strings, finite numbers and lists of them always serialise.
        serde_json::to_string_pretty(self).expect("a description is plain data") + "\n"
    }

    /// What is known of a column.
    pub(super) fn column(&self, name: &str) -> Option<&DescribedColumn> {
        self.columns.iter().find(|column| column.column == name)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
