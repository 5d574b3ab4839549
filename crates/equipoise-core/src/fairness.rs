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

use crate::error::Error;

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

/// The slope of soft rates if none is given: steep enough to be close to hard decisions, and smooth on a few dozen rows.
const DEFAULT_SLOPE: f64 = 3.0;

/// `covariance`, `soft-rate`, or `soft-rate:SLOPE`.
impl std::str::FromStr for Surrogate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let slope = match text.split_once(':') {
            None if text == "covariance" => return Ok(Self::Covariance),
            None if text == "soft-rate" => Some(DEFAULT_SLOPE),
            Some(("soft-rate", slope)) => slope.trim().parse().ok(),
            _ => None,
        };
        match slope.filter(|slope| slope.is_finite() && *slope > 0.0) {
            Some(slope) => Ok(Self::SoftRate { slope }),
            None => Err(Error::Input(format!(
                "`{text}` is not a measure of unfairness. Use covariance, soft-rate, or soft-rate:SLOPE with a slope \
                 above 0, such as soft-rate:3"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn surrogates_are_read_with_their_slope() {
        assert_eq!("covariance".parse::<Surrogate>().unwrap(), Surrogate::Covariance);
        assert_eq!("soft-rate".parse::<Surrogate>().unwrap(), Surrogate::SoftRate { slope: 3.0 });
        assert_eq!("soft-rate:5".parse::<Surrogate>().unwrap(), Surrogate::SoftRate { slope: 5.0 });
        for wrong in [
            "",
            "soft",
            "soft-rate:",
            "soft-rate:0",
            "soft-rate:-1",
            "soft-rate:nan",
            "covariance:3",
        ] {
            assert!(wrong.parse::<Surrogate>().unwrap_err().to_string().contains(wrong));
        }
    }
}
