//! The default generator with differential privacy: the same steps, but from noisy releases instead of the rows.
//!
//! 1. Release counts, sums and products, and make a Gaussian for each cell of them (`privacy`).
//! 2. Fit a model to rows sampled from these Gaussians.
//! 3. Release histograms of its scores on the data, correct the model's scale and level by them, and choose the fair
//!    target's thresholds.
//! 4. Sample the proxy's rows from the Gaussians, draw their labels from the target, and make the target their exact
//!    model.
//!
//! Only the summary, which stays with the client, looks at the data again.

use std::slice;

use super::super::blocks::scores;
use super::super::exact_rows::{ExactRows, make_exact, ridge_gradient};
use super::super::on_data::OnData;
use super::super::own_model::{DATA_RIDGE, Penalty};
use super::super::privacy::{Budget, CellModel, NoisyMoments, Privacy, ScoreTable};
use super::super::smoothed_rows::SmoothedModel;
use super::super::target::{self, fair_target};
use super::super::{ClientData, GeneratedProxy, ProxySettings};
use super::{MAX_ROWS, STAGES, TargetRows, check_size, label, stage};
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, fit_logistic, ridge};
use crate::linalg::RangeProjection;
use crate::observer::{Observer, report};
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};

/// The model is fitted to at least so many sampled rows, so that sampling adds little to the noise.
const MIN_SAMPLE_ROWS: usize = 20_000;

/// Generates a private proxy of `data`, whose settings and cells have been checked.
pub(super) fn generate(
    data: &ClientData<'_>,
    privacy: Privacy,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    let layout = data.rows.layout();
    let on_data = OnData::new(data.rows, settings.fairness)?;
    let mut reached =
        |done: usize, theta: &[f64]| report(observer, stage(done, on_data.measure(theta)?));
    let mut budget = Budget::new(privacy)?;
    let seed = budget.seed();
    let moments = NoisyMoments::release(data, &mut budget)?;
    let model = SmoothedModel::of_cells(CellModel::new(&moments, &data.columns)?);
    let n_rows = settings.rows.unwrap_or(model.n_rows().min(MAX_ROWS));
    check_size(layout, layout.groups.len(), n_rows)?;

    let sampled = model.sample(n_rows.max(MIN_SAMPLE_ROWS), seed);
    let sampled = Rows::new(layout.clone(), &sampled.x, &sampled.groups, &sampled.positive)?;
    let packed = PackedRows::of(slice::from_ref(&sampled))?;
    let origin = FitPoint::origin(&packed)?;
    let row_space = RangeProjection::new(origin.statistics.hessian(0), layout.n());
    // Always this strength: one chosen on the rows would disclose something about them.
    let problem = InnerProblem { rows: &packed, weights: &[1.0], ridge: DATA_RIDGE };
    let tolerance = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    let fitted = problem.fit(origin, &tolerance)?.point.theta;
    reached(1, &fitted)?;

    let on_rows = scores(data.rows, &fitted);
    let expected = scores(&sampled, &fitted);
    let table = ScoreTable::release((data.rows, &on_rows), (&sampled, &expected), &mut budget)?;
    let raw = calibrated(fitted, &table, layout)?;
    let target = if target::thresholds_decide(layout, settings.fairness) {
        let scores = scores_of_table(&table, &raw);
        row_space.apply(&target::with_group_cuts(
            &table.rows,
            &scores,
            &raw.theta,
            layout,
            settings,
        ))
    } else {
        let penalty = Penalty::least(layout);
        fair_target(&sampled, &packed, &raw.theta, penalty, &row_space, settings)?
    };
    reached(2, &target)?;

    let labelled = label(data.rows, model.sample(n_rows, seed), &target, seed)?;
    let rest = ridge_gradient(&target, ridge(settings.lambda, target.len()));
    let ExactRows { rows, steps } = make_exact(labelled, &target, &rest, model.varying())?;
    reached(3, &target)?;

    let made = TargetRows { on_data, start_theta: raw.theta, strength: None, target, rows, steps };
    let (rows, summary) = made.finish(settings)?;
    report(observer, stage(STAGES, (summary.loss, summary.violation)))?;
    Ok(GeneratedProxy { rows, summary, privacy: Some(budget.statement()) })
}

/// A model whose scores were corrected.
struct Calibrated {
    theta: Vec<f64>,
    /// What the scores of the model before were multiplied by.
    scale: f64,
    /// What was then added to those of each group.
    shifts: Vec<f64>,
}

/// Corrects scale and level of the scores by a logistic regression of the labels on them. A sample of Gaussians has the
/// moments of the data, but not its tails, so the model is too sure or too unsure of itself.
fn calibrated(theta: Vec<f64>, table: &ScoreTable, layout: &Layout) -> Result<Calibrated, Error> {
    let n_groups = layout.groups.len();
    let unchanged = vec![0.0; n_groups];
    if !layout.intercept || table.rows.is_empty() {
        return Ok(Calibrated { theta, scale: 1.0, shifts: unchanged });
    }
    let narrow = Layout { n_x: 1, ..layout.clone() };
    let positive: Vec<bool> = (0..table.rows.len()).map(|i| table.rows.is_positive(i)).collect();
    let rows = Rows::new(narrow, &table.scores, table.rows.groups(), &positive)?;
    let fitted = fit_logistic(&rows, 1e-6, &InnerSettings::default())?;
    let (scale, level) = (fitted[0], fitted[fitted.len() - 1]);
    if scale <= 0.0 || !fitted.iter().all(|c| c.is_finite()) {
        return Ok(Calibrated { theta, scale: 1.0, shifts: unchanged });
    }
    let of_groups = &fitted[1..fitted.len() - 1];
    let mut theta: Vec<f64> = theta.iter().map(|t| scale * t).collect();
    theta[layout.indicators()].iter_mut().zip(of_groups).for_each(|(t, by)| *t += by);
    if let Some(intercept) = theta.last_mut() {
        *intercept += level;
    }
    let shift = |group: usize| {
        level + if group == 0 { 0.0 } else { of_groups.get(group - 1).copied().unwrap_or(0.0) }
    };
    Ok(Calibrated { theta, scale, shifts: (0..n_groups).map(shift).collect() })
}

/// The scores of the table under the corrected model.
fn scores_of_table(table: &ScoreTable, model: &Calibrated) -> Vec<f64> {
    let groups = table.rows.groups().iter();
    let shifts = groups.map(|&group| model.shifts[usize::from(group)]);
    table.scores.iter().zip(shifts).map(|(score, shift)| model.scale * score + shift).collect()
}

#[cfg(test)]
mod tests;
