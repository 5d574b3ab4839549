//! The fair model that a proxy is made for: the model of the client's own data, changed no more than fairness requires.
//!
//! If the model has an intercept and an indicator for each group, every group has its own threshold. Moving those is
//! enough for equal rates, and leaves the ranking within each group alone (`group_cuts`). A model without them, such as
//! one that is blind to the group, is fitted again with a penalty on the differences between soft rates
//! (`soft_rate_fit`). So is a model that must have equalised odds, because one threshold for each group cannot equalise
//! two rates.

mod cell_rates;
mod common_shift;
mod goal;
mod group_cuts;
mod soft_rate_fit;

use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::linalg::RangeProjection;
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};
pub(super) use goal::{Goal, Rates};
use group_cuts::group_cuts;
pub(crate) use group_cuts::move_cuts;
use soft_rate_fit::fit_soft_rates;

use super::ProxySettings;
use super::blocks::scores;
use super::own_model::Penalty;

/// The model that the proxy of `data` should have. `raw` is the model of `data` with this penalty; `row_space` projects
/// onto the span of its rows. `packed` has the same rows.
pub(super) fn fair_target(
    data: &Rows,
    packed: &PackedRows,
    raw: &[f64],
    penalty: Penalty,
    row_space: &RangeProjection,
    settings: &ProxySettings,
) -> Result<Vec<f64>, Error> {
    let layout = data.layout();
    let scores = scores(data, raw);
    let goal = Goal::new(data, &scores, settings);
    let start = if has_thresholds(layout) {
        cut_groups(data, &scores, raw, layout, settings.fairness, &goal)
    } else {
        raw.to_vec()
    };
    let target = if thresholds_decide(layout, settings.fairness) {
        start
    } else {
        fit_soft_rates(data, packed, raw, penalty, start, settings.fairness, &goal)?
    };
    // Columns that depend on each other leave θ undetermined. A ridge chooses the smallest of all models with
    // the same scores, and so must the target.
    Ok(row_space.apply(&target))
}

/// Whether the fair target of this layout has the raw model's scores, but other thresholds for the groups.
pub(super) fn thresholds_decide(layout: &Layout, fairness: Fairness) -> bool {
    has_thresholds(layout) && thresholds_suffice(fairness)
}

/// The model `raw` with thresholds chosen on a table of groups, labels and the model's scores.
pub(super) fn with_group_cuts(
    table: &Rows,
    scores: &[f64],
    raw: &[f64],
    layout: &Layout,
    settings: &ProxySettings,
) -> Vec<f64> {
    let goal = Goal::new(table, scores, settings);
    cut_groups(table, scores, raw, layout, settings.fairness, &goal)
}

/// The model `raw`, whose scores are given, with thresholds by which the groups' gaps come as close to the goal as their
/// scores allow.
fn cut_groups(
    data: &Rows,
    scores: &[f64],
    raw: &[f64],
    layout: &Layout,
    fairness: Fairness,
    goal: &Goal,
) -> Vec<f64> {
    let goal = common_shift::shifted(data, scores, fairness, goal);
    move_cuts(raw, layout, &group_cuts(data, scores, fairness, &goal))
}

/// The largest difference between two groups' rates of decisions on `data`, over the conditions that count.
pub(super) fn worst_gap(data: &Rows, theta: &[f64], fairness: Fairness) -> f64 {
    let rates = Rates::of(data, &scores(data, theta), 0.0);
    let gap = |condition: Condition| {
        let groups = 0..data.layout().groups.len();
        let known: Vec<f64> = groups.filter_map(|g| rates.of_group(g, condition)).collect();
        let highest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        highest - known.iter().copied().fold(f64::INFINITY, f64::min)
    };
    fairness.conditions().map(|(condition, _)| gap(condition)).fold(0.0, f64::max)
}

/// Whether each group has a threshold of its own.
fn has_thresholds(layout: &Layout) -> bool {
    layout.as_feature && layout.intercept
}

/// Whether moving thresholds is the best way to this fairness. Equal selection rates contradict equal rates among positives
/// or negatives unless labels are equally frequent in all groups; a fit that insists on both loses its accuracy.
fn thresholds_suffice(fairness: Fairness) -> bool {
    fairness.weight(Condition::All) > 0.0 || fairness.conditions().count() == 1
}
