//! Errors of the core, with the values that locate them.

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
    /// The root rows of all clients lack a group.
    #[error(
        "the root has {rows} rows, {privileged} of them privileged. Fairness can be measured only \
         if both groups occur"
    )]
    RootGroup {
        /// Root rows of all clients.
        rows: usize,
        /// Rows with s = 1.
        privileged: usize,
    },
    /// Equal opportunity is requested, but a group has no positive root row.
    #[error(
        "equal opportunity needs positive root rows in both groups; found {privileged} in the \
         privileged group and {others} in the other"
    )]
    RootPositives {
        /// Positive root rows with s = 1.
        privileged: usize,
        /// Positive root rows with s = 0.
        others: usize,
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
    #[error(
        "all rows are in one group ({privileged} of {rows} are privileged), so fairness cannot be \
         measured"
    )]
    OneGroup {
        /// Rows.
        rows: usize,
        /// Rows with s = 1.
        privileged: usize,
    },
    /// Equal opportunity is requested, but a group has no positive row.
    #[error(
        "equal opportunity needs positive rows in both groups; found {privileged} in the privileged \
         group and {others} in the other"
    )]
    NoPositives {
        /// Positive rows with s = 1.
        privileged: usize,
        /// Positive rows with s = 0.
        others: usize,
    },
    /// The rows of a [`ClientStatistics`](crate::ClientStatistics) could not be read.
    #[error("the rows could not be read")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn no_clients() -> Self {
        Self::Input("there are no clients".to_owned())
    }
}
