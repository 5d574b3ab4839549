//! A model that is no better than a constant.

use super::{difference, plain};
use crate::comparison::constant_loss_difference;
use crate::interval::Estimate;
use crate::metrics::Metrics;
use crate::rows::Rows;
use crate::warning::{Warning, WarningCode};

/// A warning if rows do not show that a model is better than a constant. `scores` are those of the rows, `a·θ`, and
/// `metrics` the figures of the decisions.
pub fn warn_if_no_better_than_constant(
    scores: &[f64],
    rows: &Rows,
    metrics: &Metrics,
) -> Option<Warning> {
    no_better_than_constant(metrics, constant_loss_difference(scores, rows), "rows")
}

/// Every row gets the same decision, or neither the decisions nor the scores are provably better than a constant. `rows`
/// says what kind of rows they are, and `constant_loss` is the best constant's loss minus the model's.
pub(super) fn no_better_than_constant(
    metrics: &Metrics,
    constant_loss: Option<Estimate>,
    rows: &str,
) -> Option<Warning> {
    let selected: usize = metrics.groups.iter().map(|group| group.selected).sum();
    let warn = |message| Some(Warning::new(WarningCode::NoBetterThanConstant, message));
    if selected == 0 || selected == metrics.rows {
        let which = if selected == 0 { "none" } else { "all" };
        return warn(format!(
            "the model is no better than a constant: it selects {which} of the {} {rows}",
            metrics.rows
        ));
    }
    let (constant, balanced) = (constant_loss?, metrics.balanced_accuracy.as_ref()?);
    if constant.low > 0.0 || balanced.low > 0.5 {
        return None;
    }
    warn(format!(
        "the model is not provably better than a constant on the {} {rows}: its balanced accuracy is {}, and its {} than \
         that of the best constant",
        metrics.rows,
        plain(balanced),
        difference("loss", &-constant, ["lower", "higher"]),
    ))
}
