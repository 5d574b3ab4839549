//! What can be wrong with one cell of a table.

use super::list;

/// What is wrong with a cell. File, row and column stand around it, in
/// [`Error::Cell`](crate::Error::Cell).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellProblem {
    /// Text where the schema has a number.
    #[error(
        "`{value}` is not a number. Correct the value, or declare the column categorical in the schema."
    )]
    NotANumber {
        /// The cell.
        value: String,
    },
    /// Infinite, or beyond the range of a 64-bit float.
    #[error("`{value}` is not a finite number. Correct the value.")]
    NotFinite {
        /// The cell.
        value: String,
    },
    /// An encoded number too large to compute with.
    #[error(
        "`{value}` is beyond ±1e12, where encoded values are about 1. Encode the rows through the schema."
    )]
    TooLarge {
        /// The cell.
        value: String,
    },
    /// A number too large to compute with once it is centred and scaled.
    #[error(
        "`{value}` is beyond ±1e12 after (value − {center:e}) / {scale:e}. Correct the value, or the schema's center and scale."
    )]
    OverflowsWhenScaled {
        /// The cell.
        value: String,
        /// The schema's center.
        center: f64,
        /// The schema's scale.
        scale: f64,
    },
    /// A category that the schema does not list.
    #[error(
        "`{value}` is none of the levels {}. Correct the value, or agree on a schema that has it.",
        list(levels)
    )]
    UnknownLevel {
        /// The cell.
        value: String,
        /// The levels of the schema.
        levels: Vec<String>,
    },
    /// No value, and the schema has no `fill` for the feature.
    #[error(
        "the value is missing. Complete or remove the row, or give the feature a `fill` in the schema."
    )]
    Missing,
    /// No value for the label or the sensitive attribute.
    #[error("the {role} is missing. Complete or remove the row: it cannot be filled.")]
    MissingRole {
        /// "label" or "sensitive attribute".
        role: &'static str,
    },
    /// No value in a proxy.
    #[error("the value is missing. A proxy has a finite number in every cell.")]
    MissingInProxy,
    /// Text in a proxy.
    #[error(
        "`{value}` is not a number. A proxy holds encoded rows: was this table encoded through the schema?"
    )]
    NotEncoded {
        /// The cell.
        value: String,
    },
    /// A sensitive attribute or label that is not one of its two codes.
    #[error("`{value}` is neither {first} nor {second}, the two values of this column in a proxy.")]
    NotACode {
        /// The cell.
        value: String,
        /// One code.
        first: i8,
        /// The other.
        second: i8,
    },
}
