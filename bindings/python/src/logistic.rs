//! Logistic regression without groups, for an estimator that is fitted without sensitive features.

use equipoise_core::{InnerSettings, Layout, Rows};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::error::{Stage, exception};
use crate::task;

/// Fits `θ` with an intercept, which is its last entry, to features (row by row) and labels (0 or 1).
#[pyfunction]
pub(crate) fn fit_logistic(
    py: Python<'_>,
    x: PyBuffer<f64>,
    positive: PyBuffer<u8>,
    n_features: usize,
    lambda_: f64,
) -> PyResult<Vec<f64>> {
    let (x, positive) = (x.to_vec(py)?, positive.to_vec(py)?);
    let positive: Vec<bool> = positive.into_iter().map(|label| label != 0).collect();
    let layout = Layout { as_feature: false, ..Layout::two_groups(n_features, true) };
    let rows = Rows::new(layout, &x, &vec![0u8; positive.len()], &positive)
        .map_err(|error| exception(py, &error.into(), Stage::Solve))?;
    task::run(py, Stage::Solve, None, move |_| {
        let settings = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
        Ok(equipoise_core::fit_logistic(&rows, lambda_, &settings)?)
    })
}
