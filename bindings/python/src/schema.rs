//! Schemas.

use std::path::PathBuf;

use equipoise_data::Encoding;
use pyo3::prelude::*;

use crate::defense::TrustedRows;
use crate::error::{Stage, exception};
use crate::table::{proxy_table, raw_table, rows_to_score};
use crate::task;

/// What all parties agree on: columns, encodings, label and groups.
#[pyclass(frozen, module = "equipoise._core")]
pub(crate) struct Schema(pub(crate) equipoise_data::Schema);

#[pymethods]
impl Schema {
    /// Parses TOML. `name` is where it comes from, for messages.
    #[staticmethod]
    fn from_toml(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let schema = equipoise_data::Schema::from_toml(text, name.as_ref());
        schema.map(Self).map_err(|error| exception(py, &error.into(), Stage::Schema))
    }

    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let schema = equipoise_data::Schema::read(&path);
        schema.map(Self).map_err(|error| exception(py, &error.into(), Stage::Schema))
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// SHA-256 of the content.
    fn digest(&self) -> String {
        self.0.digest().to_string()
    }

    /// The label's column and its positive value.
    fn label(&self) -> (String, String) {
        (self.0.label.column.clone(), self.0.label.positive.clone())
    }

    /// The columns that decide a row's group.
    fn sensitive(&self) -> Vec<String> {
        self.0.sensitive.columns.clone()
    }

    /// The names of the groups, and which of them is the reference.
    fn groups(&self) -> (Vec<String>, usize) {
        let groups = self.0.sensitive.groups.iter().map(|group| group.name.clone());
        (groups.collect(), self.0.sensitive.reference)
    }

    /// Whether the model may not use the group.
    fn blind(&self) -> bool {
        !self.0.sensitive.as_feature
    }

    /// The features: the column, and its levels if it is categorical.
    fn features(&self) -> Vec<(String, Option<Vec<String>>)> {
        let levels = |encoding: &Encoding| match encoding {
            Encoding::Categorical { levels, .. } => Some(levels.clone()),
            _ => None,
        };
        self.0.features.iter().map(|f| (f.column.clone(), levels(&f.encoding))).collect()
    }

    /// The names of the encoded features.
    fn encoded_names(&self) -> Vec<String> {
        self.0.encoded_names()
    }

    /// The names of the model's coefficients.
    fn theta_names(&self) -> Vec<String> {
        self.0.theta_names()
    }

    /// Whether the last coefficient is an intercept.
    fn intercept(&self) -> bool {
        self.0.intercept
    }

    /// The column of a proxy that has the groups.
    fn group_column(&self) -> String {
        self.0.sensitive.column_name()
    }

    /// The clients that have trusted rows, and all of these rows, encoded: the features, one row after another, the index of
    /// each row's group, and whether its label is positive.
    fn encode_trusted<'py>(
        &self,
        py: Python<'py>,
        trusted: TrustedRows<'py>,
    ) -> PyResult<(Vec<String>, Encoded<'py>)> {
        let (trusted, schema) = (trusted.open(&self.0)?, self.0.clone());
        let (clients, rows) = task::run(py, Stage::Table, None, move |_| {
            let found = trusted.read(&schema)?;
            Ok((found.clients().map(str::to_owned).collect(), found.all_rows()?))
        })?;
        Ok((clients, encoded(py, &rows)))
    }

    /// Encodes the rows of a proxy in the same way.
    fn encode_proxy<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Encoded<'py>> {
        let (opened, schema) = (proxy_table("the proxy", table)?, self.0.clone());
        let py = table.py();
        let rows = task::run(py, Stage::Table, None, move |_| {
            Ok(equipoise_data::read_proxy_of(opened, &schema)?)
        })?;
        Ok(encoded(py, &rows))
    }

    /// Encodes raw rows to be scored, whose label may be missing.
    fn encode_features<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Encoded<'py>> {
        let (opened, schema) = (raw_table("the table", table, &self.0)?, self.0.clone());
        let py = table.py();
        let rows =
            task::run(py, Stage::Table, None, move |_| Ok(rows_to_score(opened, &schema)?.rows))?;
        Ok(encoded(py, &rows))
    }
}

/// Features (64-bit floats), groups and labels (bytes).
type Encoded<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn encoded<'py>(py: Python<'py>, rows: &equipoise_core::Rows) -> Encoded<'py> {
    use crate::output::bytes;
    let x: Vec<f64> = (0..rows.len()).flat_map(|i| rows.x(i).iter().copied()).collect();
    let positive: Vec<u8> = (0..rows.len()).map(|i| u8::from(rows.is_positive(i))).collect();
    (bytes(py, &x), bytes(py, rows.groups()), bytes(py, &positive))
}
