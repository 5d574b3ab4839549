//! The schema: what all clients and the server agree on before anyone encodes a row.
//!
//! It names the label, the sensitive attribute and the features, and says how a raw value becomes a
//! number. Two parties that have the same [`Schema::digest`] encode the same row to the same numbers.

mod check;
mod digest;
mod encode;
mod feature;
mod infer;
mod statistics;

use std::path::Path;

use equipoise_core::Layout;
use serde::{Deserialize, Serialize};

pub use check::SchemaProblem;
pub(crate) use encode::Encoder;
pub use feature::{Encoding, Feature};
pub use infer::{InferOptions, Inferred, infer};

use crate::digest::Digest;
use crate::error::Error;

/// The only version of the format so far.
const VERSION: u32 = 1;

/// Name of the entry of θ that belongs to the constant 1.
const INTERCEPT: &str = "(intercept)";

/// Columns, encodings, label and sensitive attribute. Deserialising alone checks the shape only; whoever
/// embeds a schema in a file of its own calls [`validate`](Self::validate) after it, as models do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Version of the format; 1.
    pub version: u32,
    /// Whether an encoded row ends with a constant 1.
    pub intercept: bool,
    /// Columns that raw tables may have and that nobody uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// What is to be predicted.
    pub label: Label,
    /// Whom the model must be fair to.
    pub sensitive: Sensitive,
    /// What is predicted from, in the order of the encoding.
    #[serde(rename = "feature")]
    pub features: Vec<Feature>,
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The column.
    pub column: String,
    /// The value that counts as +1; every other counts as −1.
    pub positive: String,
}

/// Whom the model must be fair to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitive {
    /// The column.
    pub column: String,
    /// The value that counts as 1; every other counts as 0.
    pub privileged: String,
}

impl Schema {
    /// Reads and checks a schema. `file` is where the text came from, for the error's sake.
    pub fn from_toml(text: &str, file: &Path) -> Result<Self, Error> {
        let syntax =
            |source| Error::SchemaSyntax { file: file.to_path_buf(), source: Box::new(source) };
        // The version comes first: a newer schema has keys that this program does not know.
        let any: Version = toml::from_str(text).map_err(syntax)?;
        check::version(any.version)
            .and_then(|()| match toml::from_str::<Self>(text) {
                Ok(schema) => schema.validate().map(|()| Ok(schema)),
                Err(error) => Ok(Err(error)),
            })
            .map_err(|problem| Error::Schema { file: Some(file.to_path_buf()), problem })?
            .map_err(syntax)
    }

    /// Reads and checks a schema file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_toml(&text, path)
    }

    /// The schema as a file; reads back equal.
    pub fn to_toml(&self) -> String {
        // Expect safety: strings, finite numbers and lists of them, tables last; toml has all of these.
        toml::to_string(self).expect("a schema is plain data")
    }

    /// Whether the schema holds together. [`from_toml`](Self::from_toml) and [`read`](Self::read) have
    /// checked; a schema put together in code should be.
    pub fn validate(&self) -> Result<(), SchemaProblem> {
        check::check(self)
    }

    /// SHA-256 of the schema's content. Comments, white space, the order of keys, the order of `ignore` and the
    /// spelling of numbers do not matter; the order of features and levels does.
    pub fn digest(&self) -> Digest {
        digest::digest(self)
    }

    /// Which entries an encoded row has.
    pub fn layout(&self) -> Layout {
        Layout { n_x: self.features.iter().map(Feature::width).sum(), intercept: self.intercept }
    }

    /// The encoded features: the column, or `column=level` for each level.
    pub fn encoded_names(&self) -> Vec<String> {
        self.features.iter().flat_map(Feature::encoded_names).collect()
    }

    /// The entries of θ: encoded features, sensitive attribute, and `(intercept)` if there is one.
    pub fn theta_names(&self) -> Vec<String> {
        let mut names = self.encoded_names();
        names.push(self.sensitive.column.clone());
        if self.intercept {
            names.push(INTERCEPT.to_string());
        }
        names
    }
}

/// What every version of a schema has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[cfg(test)]
mod tests;
