//! The client's own rows, only encoded: neither fair nor private. For comparisons, and for clients whose rows are
//! public.

use super::on_data::OnData;
use super::own_model::DATA_RIDGE;
use super::{ClientData, GeneratedProxy, ProxySettings};
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, fit_logistic};
use crate::observer::Observer;

/// Copies the rows of `data`.
pub(super) fn generate(
    data: &ClientData<'_>,
    settings: &ProxySettings,
    _: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    let rows = data.rows.clone();
    let on_data = OnData::new(data.rows, settings.fairness)?;
    let problem = InnerProblem { rows: &on_data.packed, weights: &[1.0], ridge: DATA_RIDGE };
    let tolerance = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    let start_theta = problem.fit(FitPoint::origin(&on_data.packed)?, &tolerance)?.point.theta;
    let theta = fit_logistic(&rows, settings.lambda, &tolerance)?;
    let summary = on_data.summarise(&rows, theta, start_theta, settings)?;
    Ok(GeneratedProxy { rows, summary, privacy: None })
}
