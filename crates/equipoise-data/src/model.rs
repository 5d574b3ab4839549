//! The model: θ and its schema, enough to score raw rows anywhere.

use std::path::Path;

use equipoise_core::{Fairness, Outcome, Rows, is_selected};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::output_file::write_json;
use crate::proxy::check_layout;
use crate::schema::Schema;
use crate::stamp::Stamp;

const FORMAT: &str = "equipoise-model";
const VERSION: u32 = 1;

/// A checked model: θ is finite and has one entry per entry of the schema's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    schema: Schema,
    theta: Vec<f64>,
    fairness: Option<Fairness>,
}

/// The prediction for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// `a·θ`.
    pub score: f64,
    /// `σ(a·θ)`, the predicted probability of the positive label.
    pub probability: f64,
    /// Whether the row is selected.
    pub selected: bool,
}

impl Prediction {
    fn of(score: f64) -> Self {
        // The argument −|score| cannot overflow.
        let e = (-score.abs()).exp();
        let probability = if score > 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        Self { score, probability, selected: is_selected(score) }
    }
}

impl Model {
    /// Joins a schema and θ.
    pub fn new(schema: Schema, theta: Vec<f64>) -> Result<Self, Error> {
        Self::checked(schema, theta)
            .map_err(|problem| Error::Invalid(format!("the model: {problem}")))
    }

    /// A model with other coefficients, for the same schema and criterion.
    pub fn with_theta(&self, theta: Vec<f64>) -> Result<Self, Error> {
        let model = Self::new(self.schema.clone(), theta)?;
        Ok(Self { fairness: self.fairness, ..model })
    }

    /// The model of an outcome and its schema, made to be fair by the outcome's criterion.
    pub fn of(outcome: &Outcome, schema: &Schema) -> Result<Self, Error> {
        let model = Self::new(schema.for_model(&outcome.theta), outcome.theta.clone())?;
        Ok(Self { fairness: Some(outcome.settings.fairness), ..model })
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Err(Error::in_document(path, describe_folder(path)));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::Read { file: path.to_path_buf(), source })?;
        Self::from_json(&text, path)
    }

    /// Parses a model. `file` is its source, for error messages.
    pub fn from_json(text: &str, file: &Path) -> Result<Self, Error> {
        let wrong = |problem| Error::in_document(file, problem);
        let syntax = |error: serde_json::Error| wrong(format!("not a valid model: {error}"));
        let stamp: Stamp = serde_json::from_str(text).map_err(syntax)?;
        stamp.check(("a", "model"), FORMAT, VERSION).map_err(wrong)?;
        let document: Document = serde_json::from_str(text).map_err(syntax)?;
        document.check().map_err(wrong)
    }

    /// The model as JSON, which parses back bit for bit.
    pub fn to_json(&self) -> String {
        // Strings, finite numbers and lists of them always serialise.
        let mut text =
            serde_json::to_string_pretty(&self.document()).expect("a model is plain data");
        text.push('\n');
        text
    }

    /// Writes the model file.
    pub fn write(&self, path: &Path, force: bool) -> Result<(), Error> {
        write_json(path, &self.document(), force)
    }

    /// The model's schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The criterion that the model was made for, if it is known.
    pub fn fairness(&self) -> Option<Fairness> {
        self.fairness
    }

    /// θ, one entry per [`Schema::theta_names`].
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// `a·θ` for each row, positive if the model predicts +1.
    pub fn score(&self, rows: &Rows) -> Result<Vec<f64>, Error> {
        check_layout(rows, &self.schema)?;
        let score = |i| rows.a(i).iter().zip(&self.theta).map(|(a, t)| a * t).sum();
        Ok((0..rows.len()).map(score).collect())
    }

    /// Score, probability and decision for each row. Labels are ignored.
    pub fn predict(&self, rows: &Rows) -> Result<Vec<Prediction>, Error> {
        Ok(self.score(rows)?.into_iter().map(Prediction::of).collect())
    }

    fn checked(schema: Schema, theta: Vec<f64>) -> Result<Self, String> {
        schema.validate().map_err(|problem| format!("the model's schema is invalid: {problem}"))?;
        let names = schema.theta_names();
        check_length("theta", names.len(), theta.len())?;
        if let Some(i) = theta.iter().position(|value| !value.is_finite()) {
            let (name, value) = (&names[i], theta[i]);
            return Err(format!(
                "the entry of theta for `{name}` is {value}, which is not a finite number."
            ));
        }
        Ok(Self { schema, theta, fairness: None })
    }

    fn document(&self) -> Document {
        Document {
            format: FORMAT.to_string(),
            version: VERSION,
            schema_digest: self.schema.digest().to_string(),
            schema: self.schema.clone(),
            fairness: self.fairness,
            features: self.schema.theta_names(),
            theta: self.theta.clone(),
        }
    }
}

/// Why a folder is not a model, and which of its files may be meant: its own `model.json` or that of a folder in it.
fn describe_folder(folder: &Path) -> String {
    let inside = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut candidates: Vec<_> = inside.map(|entry| entry.path().join(FILE_NAME)).collect();
    candidates.sort();
    candidates.insert(0, folder.join(FILE_NAME));
    match candidates.into_iter().find(|file| file.is_file()) {
        Some(file) => format!("is a folder, not a model. Give its file {}", file.display()),
        None => format!(
            "is a folder, not a model, and has no {FILE_NAME}. Give the {FILE_NAME} in the outcome of `defend`"
        ),
    }
}

const FILE_NAME: &str = "model.json";

/// `model.json`, version 1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    schema_digest: String,
    schema: Schema,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fairness: Option<Fairness>,
    features: Vec<String>,
    theta: Vec<f64>,
}

impl Document {
    fn check(self) -> Result<Model, String> {
        let model = Model { fairness: self.fairness, ..Model::checked(self.schema, self.theta)? };
        let (found, expected) = (model.schema.digest(), self.schema_digest);
        if found.to_string() != expected {
            return Err(format!(
                "the model's schema has digest {found}, but the model was made for {expected}. Use the original file."
            ));
        }
        let names = model.schema.theta_names();
        check_length("features", names.len(), self.features.len())?;
        if let Some(i) = (0..names.len()).find(|&i| names[i] != self.features[i]) {
            return Err(format!(
                "entry {} of `features` is `{}`, but the schema has `{}` there.",
                i + 1,
                self.features[i],
                names[i]
            ));
        }
        Ok(model)
    }
}

fn check_length(key: &str, expected: usize, found: usize) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("`{key}` has {found} entries, but the schema needs {expected}."))
}

#[cfg(test)]
mod tests;
