//! Figures of a defense over the seeds of a cell.

use serde::Serialize;

use super::cell::{Cell, DefenseResult, Variant};
use super::summary::Spread;

/// Figures of a defense over the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Accuracy, in percent.
    pub accuracy: Spread,
    /// Balanced accuracy, in percent.
    pub balanced: Spread,
    /// |SPD| or |EOD|.
    pub gap: Spread,
    /// Sum of the weights of unreliable clients.
    pub unreliable_weight: Spread,
    /// The largest such sum.
    pub largest_unreliable_weight: f64,
    /// Effective number of reliable clients.
    pub effective_reliable: Spread,
    /// Time of a solve.
    pub seconds: Spread,
}

impl Figures {
    /// `None` if the defense was not run.
    pub(crate) fn of(cells: &[&Cell], variant: Variant) -> Option<Self> {
        let results: Vec<(&Cell, &DefenseResult)> = cells
            .iter()
            .filter_map(|cell| {
                Some((*cell, cell.results.iter().find(|result| result.variant == variant)?))
            })
            .collect();
        if results.is_empty() {
            return None;
        }
        let spread = |value: &dyn Fn(&Cell, &DefenseResult) -> f64| {
            Spread::of(
                &results.iter().map(|(cell, result)| value(cell, result)).collect::<Vec<_>>(),
            )
        };
        let percent = |value: Option<f64>| 100.0 * value.unwrap_or(f64::NAN);
        let weight = |cell: &Cell, result: &DefenseResult| unreliable_weight(cell, &result.weights);
        Some(Self {
            accuracy: spread(&|_, result| percent(result.accuracy)),
            balanced: spread(&|_, result| percent(result.balanced_accuracy)),
            gap: spread(&|cell, result| {
                result.difference(cell.key.fairness).unwrap_or(f64::NAN).abs()
            }),
            unreliable_weight: spread(&weight),
            effective_reliable: spread(&|cell, result| {
                effective_number(&split_weights(cell, &result.weights).0)
            }),
            seconds: spread(&|_, result| result.seconds),
            largest_unreliable_weight: results
                .iter()
                .map(|(cell, result)| weight(cell, result))
                .fold(0.0, f64::max),
        })
    }
}

pub(crate) fn unreliable_weight(cell: &Cell, weights: &[f64]) -> f64 {
    // An empty sum is −0, which would be printed as such.
    split_weights(cell, weights).1.iter().sum::<f64>() + 0.0
}

/// The number of clients with equal weights that would be as even: `(Σw)²/Σw²`; 0 without any weight.
pub(crate) fn effective_number(weights: &[f64]) -> f64 {
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// Weights of the reliable clients, then of the others, each in the order of the clients.
pub(crate) fn split_weights(cell: &Cell, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (unreliable, reliable): (Vec<_>, Vec<_>) = cell
        .clients
        .iter()
        .zip(weights)
        .partition(|(client, _)| cell.unreliable_clients.contains(client));
    let weights = |side: Vec<(&String, &f64)>| side.into_iter().map(|(_, &w)| w).collect();
    (weights(reliable), weights(unreliable))
}
