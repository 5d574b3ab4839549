//! Models: predict, measure, save.

use std::path::PathBuf;

use equipoise_cli::api;
use equipoise_core::Requirements;
use equipoise_data::{Prediction, Purpose, outcome, read_rows_of, write_atomically};
use pyo3::prelude::*;

use crate::error::{Stage, exception, json, parse};
use crate::output::bytes;
use crate::schema::Schema;
use crate::table::{raw_table, rows_to_score};
use crate::task;

/// θ and its schema.
#[pyclass(frozen, module = "equipoise._core")]
pub(crate) struct Model(pub(crate) equipoise_data::Model);

/// Scores, probabilities and decisions, and the warnings about the rows.
type Predictions<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<String>);

#[pymethods]
impl Model {
    /// Reads model.json.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = equipoise_data::Model::read(&path);
        model.map(Self).map_err(|error| exception(py, &error.into(), Stage::Schema))
    }

    /// Parses model.json. `name` is where it comes from, for messages.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let model = equipoise_data::Model::from_json(text, name.as_ref());
        model.map(Self).map_err(|error| exception(py, &error.into(), Stage::Schema))
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Writes model.json.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        self.0.write(&path, force).map_err(|error| exception(py, &error.into(), Stage::Solve))
    }

    fn schema(&self) -> Schema {
        Schema(self.0.schema().clone())
    }

    /// The coefficients, one per name in the schema's `theta_names`.
    fn theta(&self) -> Vec<f64> {
        self.0.theta().to_vec()
    }

    /// Scores raw rows.
    fn predict<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Predictions<'py>> {
        let (opened, model) = (raw_table("the table", table, self.0.schema())?, self.0.clone());
        let (predictions, warnings) = task::run(table.py(), Stage::Table, None, move |_| {
            let data = rows_to_score(opened, model.schema())?;
            let warnings: Vec<String> = data.warnings.iter().map(ToString::to_string).collect();
            Ok((model.predict(&data.rows)?, warnings))
        })?;
        let py = table.py();
        let numbers = |of: fn(&Prediction) -> f64| {
            bytes(py, &predictions.iter().map(of).collect::<Vec<f64>>())
        };
        let selected: Vec<u8> = predictions.iter().map(|p| u8::from(p.selected)).collect();
        Ok((numbers(|p| p.score), numbers(|p| p.probability), bytes(py, &selected), warnings))
    }

    /// Writes the file of the command `export --onnx`.
    fn write_onnx(
        &self,
        py: Python<'_>,
        path: PathBuf,
        outcome_json: Option<&str>,
        force: bool,
    ) -> PyResult<()> {
        let write = || -> anyhow::Result<()> {
            let outcome = outcome_json.map(|text| outcome::from_json(text, "the outcome".as_ref()));
            let bytes = api::onnx(&self.0, outcome.transpose()?.as_ref())?;
            Ok(write_atomically(&path, force, |out| out.write_all(&bytes))?)
        };
        write().map_err(|error| exception(py, &error, Stage::Solve))
    }

    /// Measures the model on raw rows: what the command `evaluate --json` prints.
    fn evaluate(
        &self,
        table: &Bound<'_, PyAny>,
        fairness: Option<&str>,
        threshold: f64,
        require: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let py = table.py();
        let fairness = fairness.map(|text| parse(py, text)).transpose()?;
        let require: Option<Requirements> = require.map(|text| parse(py, text)).transpose()?;
        let (opened, model) = (raw_table("the table", table, self.0.schema())?, self.0.clone());
        let document = task::run(table.py(), Stage::Table, None, move |_| {
            let data = read_rows_of(opened, model.schema(), Purpose::Data)?;
            api::evaluate_model(&model, data, fairness, threshold, require.unwrap_or_default())
        })?;
        json(table.py(), &document)
    }
}
