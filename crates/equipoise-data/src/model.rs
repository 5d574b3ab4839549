//! The model: θ and the schema that gives it meaning, enough to score raw rows anywhere.

use std::path::Path;

use equipoise_core::{Rows, is_selected};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::Error;
use crate::output_file::write_json;
use crate::proxy::check_layout;
use crate::schema::{Schema, SchemaProblem};

const FORMAT: &str = "equipoise-model";
const VERSION: u32 = 1;

/// A checked model: θ is finite and as long as the schema's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    schema: Schema,
    theta: Vec<f64>,
}

/// What the model says about one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// `a·θ`.
    pub score: f64,
    /// `σ(a·θ)`, the probability of the positive label by the model.
    pub probability: f64,
    /// Whether the row is selected.
    pub selected: bool,
}

impl Prediction {
    fn of(score: f64) -> Self {
        // exp is only taken of −|score|: it cannot overflow.
        let e = (-score.abs()).exp();
        let probability = if score > 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        Self { score, probability, selected: is_selected(score) }
    }
}

/// What is wrong with a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelProblem {
    /// The file is of another kind.
    #[error("has format `{found}`, but a model has `{FORMAT}`. Give the path of a model.json.")]
    Format {
        /// The format found.
        found: String,
    },
    /// A version that this program does not know.
    #[error("model version {found} is not known here, only {VERSION}. Use a newer program.")]
    Version {
        /// The version found.
        found: u32,
    },
    /// The schema inside contradicts itself.
    #[error("the schema inside the model does not hold together: {0}")]
    Schema(#[from] SchemaProblem),
    /// The schema inside was changed after the model was made.
    #[error(
        "the schema inside the model has digest {found}, but the model was made for {expected}. Use the file as it was written."
    )]
    Digest {
        /// The digest that the model states.
        expected: String,
        /// The digest of the schema in it.
        found: Digest,
    },
    /// The names of θ's entries are not those of the schema.
    #[error("entry {position} of `features` is `{found}`, but the schema has `{expected}` there.")]
    FeatureName {
        /// Which entry, counted from 1.
        position: usize,
        /// The schema's name.
        expected: String,
        /// The model's name.
        found: String,
    },
    /// θ or its names are of another length than the schema's rows.
    #[error("`{key}` has {found} entries, but the schema needs {expected}.")]
    Length {
        /// `theta` or `features`.
        key: &'static str,
        /// Entries of a row under the schema.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// θ has an entry that is NaN or infinite.
    #[error("the entry of theta for `{name}` is {value}, which is not a finite number.")]
    NotFinite {
        /// The entry's name.
        name: String,
        /// Its value.
        value: f64,
    },
}

impl Model {
    /// Joins a schema and θ.
    pub fn new(schema: Schema, theta: Vec<f64>) -> Result<Self, Error> {
        Self::checked(schema, theta).map_err(|problem| Error::Model { file: None, problem })
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_json(&text, path)
    }

    /// Reads a model. `file` is where the text came from, for the error's sake.
    pub fn from_json(text: &str, file: &Path) -> Result<Self, Error> {
        let syntax = |source| Error::ModelSyntax { file: file.to_path_buf(), source };
        let wrong = |problem| Error::Model { file: Some(file.to_path_buf()), problem };
        // Format and version come first: another file, or a newer one, has keys not known here.
        let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
        stamp.check().map_err(wrong)?;
        let document: Document = serde_json::from_str(text).map_err(syntax)?;
        document.check().map_err(wrong)
    }

    /// The model as a file; reads back bit for bit.
    pub fn to_json(&self) -> String {
        // Expect safety: strings, finite numbers and lists of them.
        let mut text =
            serde_json::to_string_pretty(&self.document()).expect("a model is plain data");
        text.push('\n');
        text
    }

    /// Writes the model file.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), Error> {
        write_json(path, &self.document(), force)
    }

    /// The schema that the model belongs to.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// θ, one entry per [`Schema::theta_names`].
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// `a·θ` for each row: positive where the model says +1.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>, Error> {
        check_layout(rows, &self.schema)?;
        let score = |i| rows.a(i).iter().zip(&self.theta).map(|(a, t)| a * t).sum();
        Ok((0..rows.len()).map(score).collect())
    }

    /// Score, probability and decision for each row. Labels are not looked at.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<Prediction>, Error> {
        Ok(self.score(rows)?.into_iter().map(Prediction::of).collect())
    }

    fn checked(schema: Schema, theta: Vec<f64>) -> Result<Self, ModelProblem> {
        schema.validate()?;
        let names = schema.theta_names();
        check_length("theta", names.len(), theta.len())?;
        if let Some(i) = theta.iter().position(|value| !value.is_finite()) {
            return Err(ModelProblem::NotFinite { name: names[i].clone(), value: theta[i] });
        }
        Ok(Self { schema, theta })
    }

    fn document(&self) -> Document {
        Document {
            format: FORMAT.to_string(),
            version: VERSION,
            schema_digest: self.schema.digest().to_string(),
            schema: self.schema.clone(),
            features: self.schema.theta_names(),
            theta: self.theta.clone(),
        }
    }
}

/// What every version of a model has.
#[derive(Deserialize)]
struct Stamp {
    format: String,
    version: u32,
}

impl Stamp {
    fn check(self) -> Result<(), ModelProblem> {
        if self.format != FORMAT {
            return Err(ModelProblem::Format { found: self.format });
        }
        if self.version != VERSION {
            return Err(ModelProblem::Version { found: self.version });
        }
        Ok(())
    }
}

/// `model.json`, version 1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    schema_digest: String,
    schema: Schema,
    features: Vec<String>,
    theta: Vec<f64>,
}

impl Document {
    fn check(self) -> Result<Model, ModelProblem> {
        let model = Model::checked(self.schema, self.theta)?;
        let found = model.schema.digest();
        if found.to_string() != self.schema_digest {
            return Err(ModelProblem::Digest { expected: self.schema_digest, found });
        }
        let names = model.schema.theta_names();
        check_length("features", names.len(), self.features.len())?;
        if let Some(i) = (0..names.len()).find(|&i| names[i] != self.features[i]) {
            return Err(ModelProblem::FeatureName {
                position: i + 1,
                expected: names[i].clone(),
                found: self.features[i].clone(),
            });
        }
        Ok(model)
    }
}

fn check_length(key: &'static str, expected: usize, found: usize) -> Result<(), ModelProblem> {
    if expected == found { Ok(()) } else { Err(ModelProblem::Length { key, expected, found }) }
}

#[cfg(test)]
mod tests;
