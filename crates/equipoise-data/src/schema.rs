//! The schema, on which all clients and the server agree before anyone encodes a row.
//!
//! It names the label, the sensitive attribute and the features, and defines how a raw value becomes a number. Two
//! parties with the same [`Schema::digest`] encode the same row to the same numbers.

mod check;
mod describe;
mod description;
mod digest;
mod encode;
mod feature;
mod fill;
mod group_counts;
mod infer;
mod label_counts;
mod merge;
mod sensitive;
mod statistics;
mod survey;

use std::path::Path;

use equipoise_core::{EncodedColumn, EncodedColumns, Layout};
use serde::{Deserialize, Serialize};

pub use check::SchemaProblem;
pub use describe::{DEFAULT_MIN_ROWS, DescribeOptions, Described, describe};
pub use description::{
    ColumnKind, DescribedColumn, Description, GroupRows, Moments, RoleColumn, ValueRows,
};
pub(crate) use encode::{Encoded, Encoder, UNUSUAL};
pub use feature::{Encoding, Feature, Unknown};
pub use fill::Fill;
pub use infer::{InferOptions, Inferred, infer, infer_union};
pub use label_counts::LabelValues;
pub use merge::{AgreedRoles, agree_on_roles, merge};
pub use sensitive::{Group, Sensitive};

use crate::digest::Digest;
use crate::error::Error;

/// The only version of the format so far.
const VERSION: u32 = 1;

/// Name of θ's entry for the constant 1.
const INTERCEPT: &str = "(intercept)";

/// Columns, encodings, label and sensitive attribute. Deserialising checks only the shape; a file format that
/// embeds a schema must call [`validate`](Self::validate), as models do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Version of the format; 1.
    pub version: u32,
    /// Whether an encoded row ends with a constant 1.
    pub intercept: bool,
    /// Columns that raw tables may contain but that are not used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// What the model predicts.
    pub label: Label,
    /// The groups that the model must treat fairly.
    pub sensitive: Sensitive,
    /// The features, in the order of the encoding.
    #[serde(rename = "feature")]
    pub features: Vec<Feature>,
}

/// What the model predicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The column.
    pub column: String,
    /// The value that counts as +1.
    pub positive: String,
    /// The values that count as −1; any other is refused. Empty: every value except the positive one counts as −1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negative: Vec<String>,
}

impl Schema {
    /// Parses and checks a schema. `file` is its source, for error messages.
    pub fn from_toml(text: &str, file: &Path) -> Result<Self, Error> {
        let syntax = |error| Error::in_document(file, format!("not a valid schema: {error}"));
        let invalid = |problem| Error::in_document(file, problem);
        // The version first, because a newer schema may have unknown keys.
        let any: Version = toml::from_str(text).map_err(syntax)?;
        check::version(any.version).map_err(invalid)?;
        let schema: Self = toml::from_str(text).map_err(syntax)?;
        schema.validate().map_err(invalid)?;
        Ok(schema)
    }

    /// Reads and checks a schema file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_toml(&text, path)
    }

    /// The schema as TOML, which parses back to an equal schema.
    pub fn to_toml(&self) -> String {
        // Strings, finite numbers and lists of them, with tables last: TOML can represent all of these.
        toml::to_string(self).expect("a schema is plain data")
    }

    /// Checks that the schema is consistent. [`from_toml`](Self::from_toml) and [`read`](Self::read) do this
    /// already.
    pub fn validate(&self) -> Result<(), SchemaProblem> {
        check::check(self)
    }

    /// SHA-256 of the schema's content. Comments, white space, the order of keys, the order of `ignore` and the
    /// spelling of numbers do not matter; the order of features and levels does.
    pub fn digest(&self) -> Digest {
        digest::digest(self)
    }

    /// The layout of an encoded row.
    pub fn layout(&self) -> Layout {
        Layout {
            n_x: self.features.iter().map(Feature::width).sum(),
            groups: self.sensitive.groups(),
            as_feature: self.sensitive.as_feature,
            intercept: self.intercept,
        }
    }

    /// What the encoded features stand for.
    pub fn encoded_columns(&self) -> EncodedColumns {
        let column = |feature: &Feature| match &feature.encoding {
            Encoding::Numeric { .. } => EncodedColumn::Number,
            Encoding::Categorical { levels, unknown, .. } => {
                EncodedColumn::Levels { n: levels.len(), complete: *unknown == Unknown::Error }
            }
        };
        EncodedColumns::new(self.features.iter().map(column).collect())
    }

    /// Names of the encoded features: the column, or `column=level` for each level.
    pub fn encoded_names(&self) -> Vec<String> {
        self.features.iter().flat_map(Feature::encoded_names).collect()
    }

    /// The schema of a published model: with an intercept if the model has one, because a defense may move its threshold
    /// even if the clients' models have none.
    pub fn for_model(&self, theta: &[f64]) -> Self {
        let intercept = self.intercept || theta.len() == self.theta_names().len() + 1;
        Self { intercept, ..self.clone() }
    }

    /// Names of θ's entries: encoded features, groups unless the model is blind, and `(intercept)` if the schema has
    /// one.
    pub fn theta_names(&self) -> Vec<String> {
        let mut names = self.encoded_names();
        names.extend(self.sensitive.theta_names());
        if self.intercept {
            names.push(INTERCEPT.to_string());
        }
        names
    }
}

/// The part that every version of a schema has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[cfg(test)]
mod tests;
