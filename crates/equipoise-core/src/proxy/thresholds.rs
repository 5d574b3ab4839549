//! The default generator: rows whose model is a fair target model.

mod private;

use std::slice;

use super::blocks::scores;
use super::exact_rows::{ExactRows, make_exact, ridge_gradient};
use super::on_data::OnData;
use super::own_model::{self, OwnModel, Penalty, choose_strength};
use super::relabel::draw_labels;
use super::smoothed_rows::{MIN_GROUP_ROWS, SampledRows, SmoothedModel};
use super::target::{fair_target, worst_gap};
use super::{ClientData, GeneratedProxy, ProxySettings, ProxyStart, ProxySummary};
use crate::error::Error;
use crate::folds::Folds;
use crate::inner_fit::{InnerSettings, fit_logistic, ridge};
use crate::metrics::Metrics;
use crate::observer::{Observer, Progress, report};
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};

/// Largest difference between a coefficient of the proxy's model and of the target if the proxy is a success.
const TARGET_ERROR: f64 = 1e-6;

/// Proxy rows, unless a number is asked for. The model is the same for any number, and more rows only make a larger file.
const MAX_ROWS: usize = 20_000;

/// Stages that an observer hears of.
const STAGES: usize = 4;

/// Generates a proxy of `data`, whose settings and cells have been checked.
pub(super) fn generate(
    data: &ClientData<'_>,
    settings: &ProxySettings,
    observer: &mut dyn Observer,
) -> Result<GeneratedProxy, Error> {
    if let Some(privacy) = settings.privacy {
        return private::generate(data, privacy, settings, observer);
    }
    let data = data.rows;
    let mut reached = |done: usize, figures: (f64, f64)| report(observer, stage(done, figures));
    let n_rows = settings.rows.unwrap_or(data.len().min(MAX_ROWS));
    let made = TargetRows::of(data, n_rows, settings, &mut reached)?;
    let (proxy, summary) = made.finish(settings)?;
    reached(STAGES, (summary.loss, summary.violation))?;
    Ok(GeneratedProxy { rows: proxy, summary, privacy: None })
}

/// A stage that has been reached, with loss and violation of its model.
fn stage(done: usize, (objective, violation): (f64, f64)) -> Progress<'static> {
    Progress { done, of: STAGES, objective, violation, rho: 0.0, weights: &[] }
}

/// Rows whose exact model is the fair target of the client's data.
struct TargetRows<'a> {
    on_data: OnData<'a>,
    /// The model of the data.
    start_theta: Vec<f64>,
    /// Of its regularisation, if it was chosen.
    strength: Option<f64>,
    target: Vec<f64>,
    rows: Rows,
    steps: usize,
}

impl<'a> TargetRows<'a> {
    /// Chooses the target and makes `n_rows` rows for it. `reached` hears of the first three stages.
    fn of(
        data: &'a Rows,
        n_rows: usize,
        settings: &ProxySettings,
        reached: &mut dyn FnMut(usize, (f64, f64)) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        check_size(data.layout(), occupied_groups(data), n_rows)?;
        let on_data = OnData::new(data, settings.fairness)?;
        let packed = &on_data.packed;
        let strength = choose_strength(data)?;
        let penalty = Penalty::new(data.layout(), strength);
        let OwnModel { theta: start_theta, row_space } = own_model::fit(data, packed, penalty)?;
        reached(1, on_data.measure(&start_theta)?)?;
        let target = fair_target(data, packed, &start_theta, penalty, &row_space, settings)?;
        reached(2, on_data.measure(&target)?)?;

        let model = SmoothedModel::of(data)?;
        let sampled = match settings.start {
            ProxyStart::Smoothed => model.sample(n_rows, settings.seed),
            ProxyStart::Data => copied_rows(data, n_rows),
        };
        let labelled = label(data, sampled, &target, settings.seed)?;
        let rest = ridge_gradient(&target, ridge(settings.lambda, target.len()));
        let ExactRows { rows, steps } = make_exact(labelled, &target, &rest, model.varying())?;
        reached(3, on_data.measure(&target)?)?;
        Ok(Self { on_data, start_theta, strength: Some(strength), target, rows, steps })
    }

    /// Fits the model of the rows and measures it.
    fn finish(self, settings: &ProxySettings) -> Result<(Rows, ProxySummary), Error> {
        let Self { on_data, start_theta, strength, target, rows, steps } = self;
        let tolerance = InnerSettings { tolerance: 1e-11, ..InnerSettings::default() };
        let theta = fit_logistic(&rows, settings.lambda, &tolerance)?;
        let differences = theta.iter().zip(&target).map(|(found, wanted)| (found - wanted).abs());
        let target_error = differences.fold(0.0, f64::max);
        let summary = ProxySummary {
            steps,
            strength,
            converged: target_error <= TARGET_ERROR,
            target_error: Some(target_error),
            promised_gap: Some(worst_gap(on_data.data, &target, settings.fairness)),
            ..on_data.summarise(&rows, theta, start_theta, settings)?
        };
        Ok((rows, summary))
    }
}

/// Figures, on held-out rows, of fair targets that were made of the other rows with this regularisation strength. A large
/// table is represented by a sample.
pub fn cross_validate(
    data: &Rows,
    strength: f64,
    settings: &ProxySettings,
) -> Result<Metrics, Error> {
    let sample = own_model::sample_of(data);
    let data = sample.as_ref().unwrap_or(data);
    let penalty = Penalty::new(data.layout(), strength);
    let [scores] = Folds::of(data).decide(|train| {
        let packed = PackedRows::of(slice::from_ref(train))?;
        let OwnModel { theta, row_space } = own_model::fit(train, &packed, penalty)?;
        Ok([fair_target(train, &packed, &theta, penalty, &row_space, settings)?])
    })?;
    Ok(Metrics::of_scores(&scores, data, 0.0))
}

/// The number of groups that have rows.
pub(super) fn occupied_groups(data: &Rows) -> usize {
    data.cell_counts().iter().filter(|cell| cell[0] + cell[1] > 0).count()
}

/// Rejects a number of rows from which the model cannot be recovered.
pub(super) fn check_size(layout: &Layout, n_groups: usize, n_rows: usize) -> Result<(), Error> {
    let minimum = (layout.n() + 1).max(MIN_GROUP_ROWS * n_groups);
    if n_rows < minimum {
        return Err(Error::FewProxyRows { found: n_rows, minimum });
    }
    Ok(())
}

/// The client's own rows without their labels, repeated from the first if there are too few.
fn copied_rows(data: &Rows, n_rows: usize) -> SampledRows {
    let chosen = (0..n_rows).map(|i| i % data.len());
    SampledRows {
        x: chosen.clone().flat_map(|i| data.x(i).iter().copied()).collect(),
        groups: chosen.clone().map(|i| data.groups()[i]).collect(),
        positive: chosen.map(|i| data.is_positive(i)).collect(),
    }
}

/// The rows with labels drawn from `theta`.
fn label(data: &Rows, sampled: SampledRows, theta: &[f64], seed: u64) -> Result<Rows, Error> {
    let layout = data.layout();
    let SampledRows { x, groups, .. } = sampled;
    let unlabelled = Rows::new(layout.clone(), &x, &groups, &vec![false; groups.len()])?;
    drop(x);
    let positive = draw_labels(&scores(&unlabelled, theta), &groups, layout.groups.len(), seed);
    Ok(unlabelled.with_labels(&positive))
}

#[cfg(test)]
mod tests;
