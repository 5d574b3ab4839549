//! What is allowed but deserves a look.

use std::path::PathBuf;

use crate::distinct::Distinct;
use crate::error::list;
use crate::schema::Schema;

/// The most values that a warning names.
pub(crate) const MAX_NAMED: usize = 10;

/// Something about a table that is allowed but deserves a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// The client, where the table came out of a folder of clients.
    pub client: Option<String>,
    /// What it is.
    pub kind: WarningKind,
}

/// What deserves a look.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarningKind {
    /// The label column has more than two values.
    #[error(
        "label column `{column}` has more than two values: {}; everything but `{positive}` counts as negative",
        list(values)
    )]
    ManyLabelValues {
        /// The label column.
        column: String,
        /// The positive value.
        positive: String,
        /// Values, at most ten, then "…".
        values: Vec<String>,
    },
    /// The sensitive column has more than two values.
    #[error(
        "sensitive column `{column}` has more than two values: {}; everything but `{privileged}` counts as unprivileged",
        list(values)
    )]
    ManySensitiveValues {
        /// The sensitive column.
        column: String,
        /// The privileged value.
        privileged: String,
        /// Values, at most ten, then "…".
        values: Vec<String>,
    },
    /// All rows have the same label.
    #[error(
        "all {n_rows} row(s) have a {} label in column `{column}`",
        if *positive { "positive" } else { "negative" }
    )]
    OneClass {
        /// The label column.
        column: String,
        /// Which label.
        positive: bool,
        /// Number of rows.
        n_rows: usize,
    },
    /// All rows are of the same group.
    #[error(
        "all {n_rows} row(s) are {} in column `{column}`: fairness cannot be measured on them",
        if *privileged { "privileged" } else { "unprivileged" }
    )]
    OneGroup {
        /// The sensitive column.
        column: String,
        /// Which group.
        privileged: bool,
        /// Number of rows.
        n_rows: usize,
    },
}

impl WarningKind {
    /// A name that programs can go by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ManyLabelValues { .. } => "many-label-values",
            Self::ManySensitiveValues { .. } => "many-sensitive-values",
            Self::OneClass { .. } => "one-class",
            Self::OneGroup { .. } => "one-group",
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.client {
            Some(client) => write!(f, "client `{client}` ({}): {}", self.file.display(), self.kind),
            None => write!(f, "{}: {}", self.file.display(), self.kind),
        }
    }
}

/// Whether a class or a group is not there at all, from how many rows each cell has.
pub(crate) fn one_sided(schema: &Schema, cell_counts: [[usize; 2]; 2]) -> Vec<WarningKind> {
    let [unprivileged, privileged] = cell_counts;
    let n_rows = cell_counts.as_flattened().iter().sum();
    let mut kinds = Vec::new();
    let n_positive = unprivileged[1] + privileged[1];
    if n_positive == 0 || n_positive == n_rows {
        kinds.push(WarningKind::OneClass {
            column: schema.label.column.clone(),
            positive: n_positive > 0,
            n_rows,
        });
    }
    let n_privileged = privileged[0] + privileged[1];
    if n_privileged == 0 || n_privileged == n_rows {
        kinds.push(WarningKind::OneGroup {
            column: schema.sensitive.column.clone(),
            privileged: n_privileged > 0,
            n_rows,
        });
    }
    kinds
}

/// Whether the label column has values beyond a positive and a negative one.
pub(crate) fn many_labels(schema: &Schema, seen: &Distinct) -> Option<WarningKind> {
    (seen.len() > 2).then(|| WarningKind::ManyLabelValues {
        column: schema.label.column.clone(),
        positive: schema.label.positive.clone(),
        values: seen.names(),
    })
}

/// Whether the sensitive column has values beyond a privileged and an unprivileged one.
pub(crate) fn many_groups(schema: &Schema, seen: &Distinct) -> Option<WarningKind> {
    (seen.len() > 2).then(|| WarningKind::ManySensitiveValues {
        column: schema.sensitive.column.clone(),
        privileged: schema.sensitive.privileged.clone(),
        values: seen.names(),
    })
}
