//! What fair means, and the smooth measures of unfairness that solvers can minimise.
//!
//! A criterion requires that groups have the same rate of selection, among all rows or among those with one label
//! ([`Condition`]). A solver needs a smooth stand-in for the rate, the [`Surrogate`]. Both come down to contrasts
//! `d_j(θ)`, one for each condition and group, all 0 for a fair model, and the penalty `(ρ/2) Σ_j ω_j d_j²` (`contrasts`).

mod contrasts;
mod covariance;
mod criterion;
mod soft_rate;

pub use contrasts::Violation;
pub(crate) use contrasts::{Penalty, Unfairness};
pub use covariance::Covariance;
pub use criterion::{Condition, Criterion, Fairness};
pub(crate) use soft_rate::SoftRates;

use serde::{Deserialize, Serialize};

/// The smooth measure that stands in for a difference of rates.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Surrogate {
    /// The paper's covariance of group and score. Linear in `θ`, but 0 does not mean equal rates. The default.
    #[default]
    Covariance,
    /// Rates of soft decisions `σ(k a·θ)`. The larger the slope `k`, the closer to the rates of hard decisions.
    SoftRate {
        /// `k`, above 0.
        slope: f64,
    },
}
