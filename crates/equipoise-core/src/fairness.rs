//! What fair means, and the smooth measure of unfairness that solvers minimise.
//!
//! A criterion requires that groups have the same rate of selection, among all rows or among those with one label
//! ([`Condition`]). Solvers minimise a smooth stand-in for the differences, the paper's [`Covariance`]: contrasts `d_j(θ)`, one
//! for each condition and group, all 0 for a fair model, with the penalty `(ρ/2) Σ_j ω_j d_j²` (`contrasts`).

mod contrasts;
mod covariance;
mod criterion;

pub use contrasts::Violation;
pub(crate) use contrasts::{Penalty, Unfairness};
pub use covariance::Covariance;
pub use criterion::{Condition, Criterion, Fairness};
