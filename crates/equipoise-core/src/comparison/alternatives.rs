//! The simple models that a published model should beat.

use super::{Comparison, loss_difference, scores};
use crate::error::Error;
use crate::fairness::Fairness;
use crate::held_out::held_out_root_scores;
use crate::interval::Estimate;
use crate::round::Round;
use crate::rows::Rows;
use crate::settings::Settings;

/// Compares a model with the best constant: the share of positive labels, for everyone. `None` if all labels are equal.
pub(crate) fn compare_with_constant(
    theta: &[f64],
    rows: &Rows,
    fairness: Fairness,
) -> Option<Comparison> {
    Comparison::of(&scores(theta, rows), &best_constant(rows)?, rows, fairness)
}

/// The loss of the best constant minus that of a model with these scores. `None` if all labels are equal.
pub(crate) fn constant_loss_difference(scores: &[f64], rows: &Rows) -> Option<Estimate> {
    loss_difference(scores, &best_constant(rows)?, rows)
}

/// The scores of a constant that predicts the share of positive labels. `None` if all labels are equal.
fn best_constant(rows: &Rows) -> Option<Vec<f64>> {
    let positives = (0..rows.len()).filter(|&i| rows.is_positive(i)).count();
    let log_odds = (positives as f64 / (rows.len() - positives) as f64).ln();
    log_odds.is_finite().then(|| vec![log_odds; rows.len()])
}

/// Compares a model with the pooled model on the root.
pub fn compare_with_pooled(
    round: &Round,
    theta: &[f64],
    pooled: &[f64],
    fairness: Fairness,
) -> Result<Option<Comparison>, Error> {
    let rows = round.root().all_rows()?;
    Ok(Comparison::of(&scores(theta, &rows), &scores(pooled, &rows), &rows, fairness))
}

/// Compares a model with fair models of the root alone. Each root row is scored by a model of the other rows, so the
/// comparison does not favour models that know the answers. `None` if the root is too small for that.
pub fn compare_with_root_only(
    round: &Round,
    theta: &[f64],
    settings: &Settings,
) -> Result<Option<Comparison>, Error> {
    let rows = round.root().all_rows()?;
    let held_out = held_out_root_scores(&rows, settings)?;
    let compare =
        |other: Vec<f64>| Comparison::of(&scores(theta, &rows), &other, &rows, settings.fairness);
    Ok(held_out.and_then(compare))
}
