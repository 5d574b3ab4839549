//! What replaces missing values in a proposed schema.

use equipoise_core::choices;

use super::statistics::Statistics;
use crate::error::Error;

/// How a proposed schema replaces missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// The median of a numeric column.
    Median,
    /// The mean of a numeric column.
    Mean,
    /// The most frequent level of a categorical column.
    Mode,
}

choices! { Fill:
    Median => "median", "Numeric columns: the median";
    Mean => "mean", "Numeric columns: the mean";
    Mode => "mode", "Categorical columns: the most frequent level";
}

pub(super) fn check(fill: &[Fill]) -> Result<(), Error> {
    if fill.contains(&Fill::Median) && fill.contains(&Fill::Mean) {
        let problem = "a missing number cannot be filled with both median and mean. Choose one.";
        return Err(Error::Invalid(problem.to_owned()));
    }
    Ok(())
}

/// What replaces a missing number. The second is true if it is the mean for lack of a median.
pub(super) fn of_numbers(fill: &[Fill], statistics: &Statistics) -> (Option<f64>, bool) {
    if fill.contains(&Fill::Median) {
        let median = statistics.median();
        return (median.or(Some(statistics.mean)), median.is_none());
    }
    (fill.contains(&Fill::Mean).then_some(statistics.mean), false)
}

/// What replaces a missing level.
pub(super) fn of_levels(fill: &[Fill], statistics: &Statistics) -> Option<String> {
    fill.contains(&Fill::Mode).then(|| statistics.mode())?.map(|value| value.to_string())
}
