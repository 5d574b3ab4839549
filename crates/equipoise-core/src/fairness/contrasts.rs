//! Contrasts between groups, and the penalty on them.
//!
//! Every condition has a contrast `d_j` for each group against all others. With two groups the two contrasts are the
//! same but for their sign, so there is one, that of group 1. The penalty is `(ρ/2) Σ_j ω_j d_j²`, in which `ω_j` is the
//! weight of the condition, halved if there are more than two groups: so two groups count the same either way.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Condition, Fairness};
use crate::linalg::add_outer_product;

/// The groups that have a contrast.
pub(super) fn contrasted(n_groups: usize) -> Range<usize> {
    if n_groups == 2 { 1..2 } else { 0..n_groups }
}

/// Every contrast, as condition and group: the order of all values and slopes.
pub(super) fn contrasts(n_groups: usize) -> impl Iterator<Item = (Condition, usize)> {
    Condition::ALL.into_iter().flat_map(move |c| contrasted(n_groups).map(move |group| (c, group)))
}

/// The contrasts of a model on given rows, and their gradients.
pub(crate) struct Unfairness<'a> {
    /// `d_j`.
    pub(crate) values: Vec<f64>,
    /// `∂d_j/∂θ`.
    pub(crate) slopes: Cow<'a, [Vec<f64>]>,
}

/// How far a model is from fair on given rows, by the covariance: for each condition, its contrast if there are two
/// groups, or `√(½ Σ d²)` over the groups if there are more.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Violation {
    /// Statistical parity.
    pub sp: f64,
    /// Equal opportunity.
    pub eo: f64,
    /// Predictive equality.
    pub fpr: f64,
}

impl Violation {
    pub(crate) fn of(values: &[f64]) -> Self {
        let size = |contrasts: &[f64]| match contrasts {
            [one] => *one,
            many => (0.5 * many.iter().map(|d| d * d).sum::<f64>()).sqrt(),
        };
        let mut by_condition = values.chunks(values.len() / Condition::ALL.len()).map(size);
        let mut next = || by_condition.next().unwrap_or(0.0);
        Self { sp: next(), eo: next(), fpr: next() }
    }

    /// `√(Σ ω d²)`: `|d|` for one criterion and two groups.
    pub fn size(&self, fairness: Fairness) -> f64 {
        let by_condition = Condition::ALL.into_iter().zip([self.sp, self.eo, self.fpr]);
        by_condition.map(|(c, d)| fairness.weight(c) * d * d).sum::<f64>().sqrt()
    }
}

/// `(ρ/2) Σ_j ω_j d_j²`.
pub(crate) struct Penalty {
    /// `ω_j`.
    weights: Vec<f64>,
}

impl Penalty {
    pub(crate) fn new(fairness: Fairness, n_groups: usize) -> Self {
        let share = if n_groups == 2 { 1.0 } else { 0.5 };
        let weights = contrasts(n_groups).map(|(c, _)| share * fairness.weight(c)).collect();
        Self { weights }
    }

    /// `Σ_j ω_j d_j²`, which the penalty multiplies by ρ/2.
    pub(crate) fn squared(&self, values: &[f64]) -> f64 {
        self.product(values, values)
    }

    /// `Σ_j ω_j d_j e_j`.
    pub(crate) fn product(&self, values: &[f64], others: &[f64]) -> f64 {
        self.weights.iter().zip(values).zip(others).map(|((w, d), e)| w * d * e).sum()
    }

    /// Adds the penalty's gradient in `θ`.
    pub(crate) fn add_gradient(&self, at: &Unfairness<'_>, rho: f64, gradient: &mut [f64]) {
        let active = self.weights.iter().zip(&at.values).zip(at.slopes.iter());
        let active: Vec<(f64, &[f64])> = active
            .filter(|((weight, _), _)| **weight != 0.0)
            .map(|((weight, value), slope)| (rho * weight * value, &slope[..]))
            .collect();
        for (i, g) in gradient.iter_mut().enumerate() {
            // The sum first: adding term by term would round differently.
            *g += active.iter().map(|(factor, slope)| factor * slope[i]).sum::<f64>();
        }
    }

    /// Adds the penalty's Hessian to a lower triangle, without the contrasts' own curvature.
    pub(crate) fn add_hessian(&self, slopes: &[Vec<f64>], rho: f64, lower: &mut [f64]) {
        for (weight, slope) in self.weights.iter().zip(slopes) {
            if *weight != 0.0 {
                add_outer_product(lower, rho * weight, slope);
            }
        }
    }
}
