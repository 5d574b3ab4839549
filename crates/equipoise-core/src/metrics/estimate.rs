//! A figure with its interval.

use serde::{Deserialize, Serialize};

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// TEMPORARY
pub(crate) fn wald(value: f64, variance: f64) -> Estimate {
    let z = 1.959964 * variance.max(0.0).sqrt();
    Estimate { value, low: value - z, high: value + z }
}
