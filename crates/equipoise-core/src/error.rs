//! Errors of the core, with the values that locate them.

use crate::rows::Layout;

/// Why a computation failed. Stopping early is not an error: see [`Termination`](crate::Termination).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rows or clients that cannot be used. The text says which, and why.
    #[error("{0}")]
    Input(String),
    /// Too few proxy rows to determine a model.
    #[error(
        "a proxy needs at least {minimum} rows, one more than its model has coefficients; found {found}"
    )]
    FewProxyRows {
        /// Rows requested.
        found: usize,
        /// Rows needed.
        minimum: usize,
    },
    /// Rows or a model of unexpected length.
    #[error("expected rows of {expected} entries, found {found}")]
    Features {
        /// Entries expected.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// The parts of a round do not have the same number of clients.
    #[error("expected {expected} clients, found {found}")]
    Clients {
        /// Clients expected.
        expected: usize,
        /// Clients found.
        found: usize,
    },
    /// The root rows of all clients are in one group.
    #[error(
        "all {rows} root rows are in the group `{group}`. Fairness can be measured only if at least two groups occur"
    )]
    RootGroup {
        /// Root rows of all clients.
        rows: usize,
        /// Their group.
        group: String,
    },
    /// Fewer than two groups have root rows on which a requested rate can be measured.
    #[error("{criterion} needs {label} root rows in at least two groups; found {found}")]
    RootCondition {
        /// What is requested.
        criterion: String,
        /// The label of the rows it needs.
        label: &'static str,
        /// The number of such rows in each group.
        found: String,
    },
    /// The client of some root rows is not known, but their weight is that of their client.
    #[error(
        "{unassigned} of {rows} trusted rows do not say whose they are, but with --root-weighting client, a row has the \
         weight of its client. Name the client of each row in a column `client`, or use --root-weighting pooled"
    )]
    UnassignedRows {
        /// Rows without a client.
        unassigned: usize,
        /// All root rows.
        rows: usize,
    },
    /// A defense found numbers that are not finite.
    #[error(
        "not all {what} that the defense found are finite numbers. The proxies have values that are too extreme to fit"
    )]
    NotFinite {
        /// What is not finite.
        what: &'static str,
    },
    /// The noise of differential privacy hides the data.
    #[error(
        "the noise of differential privacy hides these rows: with this ε, a group and label of fewer than about {rows} \
         rows looks empty. Choose a larger ε, or use data of more people"
    )]
    Hidden {
        /// Rows that noise hides.
        rows: usize,
    },
    /// A setting is out of range.
    #[error("setting {name} must be {range}, found {found}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The value found.
        found: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A Hessian is not positive definite, beyond what rounding explains.
    #[error("the Hessian is not positive definite (pivot {index})")]
    NotPositiveDefinite {
        /// The pivot that failed.
        index: usize,
    },
    /// All labels are the same.
    #[error(
        "all labels are the same ({positive} of {rows} rows are positive): no model can be fitted"
    )]
    OneClass {
        /// Rows.
        rows: usize,
        /// Positive rows.
        positive: usize,
    },
    /// All rows are in one group.
    #[error("all {rows} rows are in the group `{group}`, so fairness cannot be measured")]
    OneGroup {
        /// Rows.
        rows: usize,
        /// Their group.
        group: String,
    },
    /// Fewer than two groups have rows on which a requested rate can be measured.
    #[error("{criterion} needs {label} rows in at least two groups; found {found}")]
    NoRate {
        /// What is requested.
        criterion: String,
        /// The label of the rows it needs.
        label: &'static str,
        /// The number of such rows in each group.
        found: String,
    },
    /// The [`Observer`](crate::Observer) asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The rows of a [`ClientStatistics`](crate::ClientStatistics) could not be read.
    #[error("the rows could not be read")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn no_clients() -> Self {
        Self::Input("there are no clients".to_owned())
    }

    /// Two tables that do not belong together.
    pub(crate) fn layouts(expected: &Layout, found: &Layout) -> Self {
        if expected.n() == found.n() {
            return Self::Input(
                "two tables have different groups, or differ in whether the group is a feature"
                    .to_owned(),
            );
        }
        Self::Features { expected: expected.n(), found: found.n() }
    }
}
