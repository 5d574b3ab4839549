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
    /// A feature is too large to compute with.
    #[error("row {row}, feature {feature} (both counted from 0) is {found:e}: beyond ±1e12")]
    TooLarge {
        /// Row, counted from 0.
        row: usize,
        /// Feature, counted from 0.
        feature: usize,
        /// The value.
        found: f64,
    },
    /// A proxy of so few rows that its model says nothing.
    #[error(
        "a proxy needs at least {least} rows, more than its model has coefficients; found {found}"
    )]
    FewProxyRows {
        /// Rows asked for.
        found: usize,
        /// Rows needed.
        least: usize,
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
    /// The parts of a round do not have the same number of clients.
    #[error("expected {expected} clients, found {found}")]
    Clients {
        /// Clients expected.
        expected: usize,
        /// Clients found.
        found: usize,
    },
    /// Clients are not sorted by id, or an id comes twice.
    #[error("client ids must be sorted and distinct: `{first}` stands before `{second}`")]
    ClientOrder {
        /// The id that stands first.
        first: String,
        /// The id behind it.
        second: String,
    },
    /// A client sent no rows.
    #[error("the proxy of client `{client}` has no rows")]
    EmptyProxy {
        /// The client.
        client: String,
    },
    /// The root rows of all clients together do not show both groups.
    #[error(
        "the root has {rows} rows, {privileged} of them privileged: both groups must occur, or \
         fairness cannot be measured on it"
    )]
    RootGroup {
        /// Root rows of all clients.
        rows: usize,
        /// Those with s = 1.
        privileged: usize,
    },
    /// Equal opportunity is asked for, but a group has no positive root row.
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
    /// ν is out of its range.
    #[error("nu must lie between 0 and 1, found {found}")]
    Nu {
        /// The value found.
        found: f64,
    },
    /// A setting is out of its range.
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
    /// A table without rows where some are needed.
    #[error("there are no rows")]
    NoRows,
    /// Data of one class gives no model.
    #[error(
        "all labels are the same ({positive} of {rows} rows are positive): no model can be fitted"
    )]
    OneClass {
        /// Rows.
        rows: usize,
        /// Positive ones.
        positive: usize,
    },
    /// Data of one group has nothing to be fair between.
    #[error(
        "all rows are of one group ({privileged} of {rows} are privileged): there is nothing to be \
         fair between"
    )]
    OneGroup {
        /// Rows.
        rows: usize,
        /// Those with s = 1.
        privileged: usize,
    },
    /// Equal opportunity is asked for, but a group has no positive row.
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
    /// The rows behind [`ClientStatistics`](crate::ClientStatistics) could not be read.
    #[error("the rows could not be read")]
    Source(#[source] Box<dyn std::error::Error + Send + Sync>),
}
