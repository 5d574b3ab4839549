//! Everything that can stop the maths, with the values that tell where.

/// Why a computation could not be done. Stopping early is not an error: see
/// [`Termination`](crate::Termination).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parts of a table do not have the same number of rows.
    #[error(
        "a table of {labels} labels needs {labels} sensitive values and {labels} × {n_x} features; \
         found {sensitive} and {values}"
    )]
    RowShape {
        /// Features per row.
        n_x: usize,
        /// Feature values found.
        values: usize,
        /// Sensitive values found.
        sensitive: usize,
        /// Labels found.
        labels: usize,
    },
    /// A feature is NaN or infinite.
    #[error("row {row}, feature {feature} (both counted from 0) is not a finite number")]
    NotFinite {
        /// Row, counted from 0.
        row: usize,
        /// Feature, counted from 0.
        feature: usize,
    },
    /// A round or a table needs at least one client.
    #[error("there is no client")]
    NoClients,
    /// Rows of one length met a model or rows of another.
    #[error("expected rows of {expected} entries, found {found}")]
    Features {
        /// Entries expected.
        expected: usize,
        /// Entries found.
        found: usize,
    },
}
