//! What replaces missing values in a proposed schema.

use equipoise_core::choices;

/// How a proposed schema replaces missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// The mean of a numeric column.
    Mean,
    /// The most frequent level of a categorical column.
    Mode,
}

choices! { Fill:
    Mean => "mean", "Numeric columns: the mean";
    Mode => "mode", "Categorical columns: the most frequent level";
}
