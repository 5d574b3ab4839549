//! Whether the root was enough to tell which clients are fair.
//!
//! It was not if some clients are probably unfair, those that are have probably got weight all the same, and that weight
//! matters: it adds to the gap of the model. If no client is probably unfair, there is nothing to tell apart: clients that are alike get equal weights whatever the root says. Whether
//! the model itself is fair is another question, which the figures of the outcome answer.

use super::constants::TrustConstants;
use super::report::TrustSummary;
use super::root_rates::RootRates;
use super::{CLEAR, JudgedAxis};
use crate::warning::{Warning, WarningCode};

/// Some clients are unfair if the probability of that is above this.
const PROBABLE: f64 = 0.5;
/// The weight that unfair clients may be expected to have.
const MAX_UNFAIR_WEIGHT: f64 = 0.05;
/// The gap that this weight may be expected to add to the model. Nobody decides otherwise because of less.
const MAX_ADDED_GAP: f64 = 0.02;

/// What root and rows leave open.
pub(super) struct Doubt {
    /// Whether the clients could be compared at all.
    is_compared: bool,
    /// The largest probability, over the axes, that some clients are biased.
    any_biased: f64,
    /// The weight that unfair clients are expected to have.
    unfair_weight: f64,
    /// The gap that this weight is expected to add to the model, on the axis where it adds most.
    added_gap: f64,
}

impl Doubt {
    pub(super) fn new(judged: &[JudgedAxis], weights: &[f64]) -> Self {
        let fair = |client: usize| -> f64 {
            judged.iter().map(|axis| axis.posterior.fair[client]).product()
        };
        let added_gap = |axis: &JudgedAxis| -> f64 {
            let fair = &axis.posterior.fair;
            let unfair: f64 = weights.iter().zip(fair).map(|(w, fair)| w * (1.0 - fair)).sum();
            axis.posterior.bias * unfair
        };
        Self {
            added_gap: judged.iter().map(added_gap).fold(0.0, f64::max),
            is_compared: !judged.is_empty(),
            any_biased: judged.iter().map(|axis| axis.posterior.any_biased).fold(0.0, f64::max),
            unfair_weight: weights.iter().enumerate().map(|(c, w)| w * (1.0 - fair(c))).sum(),
        }
    }

    pub(super) fn is_small(&self) -> bool {
        let is_large = self.any_biased > PROBABLE
            && self.unfair_weight > MAX_UNFAIR_WEIGHT
            && self.added_gap > MAX_ADDED_GAP;
        self.is_compared && !is_large
    }

    /// Whether all clients with weight are probably unfair.
    fn none_is_fair(&self) -> bool {
        self.is_compared && self.unfair_weight > CLEAR
    }

    /// About how many root rows in each group would be enough, if more rows could help.
    pub(super) fn rows_needed(
        &self,
        judged: &[JudgedAxis],
        root: &RootRates,
        constants: &TrustConstants,
    ) -> Option<usize> {
        if self.is_small() || self.none_is_fair() {
            return None;
        }
        // The axis on which most is open.
        let axis = judged
            .iter()
            .reduce(|a, b| if b.posterior.any_biased > a.posterior.any_biased { b } else { a })?;
        axis.rows_needed(root, constants.tolerance)
    }

    pub(super) fn warning(&self, summary: &TrustSummary) -> Option<Warning> {
        if self.is_small() {
            return None;
        }
        let known = summary.axes.first().map_or(String::new(), |axis| {
            format!("; on the root, the gap of the mean model is known to ± {:.2}", axis.root_error)
        });
        let message = if self.none_is_fair() {
            format!("no client looks fair, so the model averages the least unfair ones{known}")
        } else {
            let needed = summary.rows_needed.map_or(String::new(), |rows| {
                format!("; about {rows} root rows in each group would be needed")
            });
            format!(
                "the root cannot tell which clients are fair: about {:.0}\u{202f}% of the weight may be on unfair \
                 ones, which would add about {:.2} to the gap{known}{needed}",
                100.0 * self.unfair_weight,
                self.added_gap
            )
        };
        Some(Warning::new(WarningCode::CannotTell, message))
    }
}
