//! Warnings about tables.

use std::path::Path;

use equipoise_core::{Warning, WarningCode};

use crate::distinct::Distinct;
use crate::error::list;
use crate::schema::Schema;

/// Maximum number of values that a warning names.
pub(crate) const MAX_NAMED: usize = 10;

fn warning(file: &Path, code: WarningCode, message: String) -> Warning {
    Warning { file: Some(file.to_path_buf()), ..Warning::new(code, message) }
}

/// Warnings about a table that lacks a class or a group, from the number of rows in each cell.
pub(crate) fn one_sided(
    file: &Path,
    schema: &Schema,
    cell_counts: [[usize; 2]; 2],
) -> Vec<Warning> {
    let [unprivileged, privileged] = cell_counts;
    let n_rows: usize = cell_counts.as_flattened().iter().sum();
    let mut warnings = Vec::new();
    let n_positive = unprivileged[1] + privileged[1];
    if n_positive == 0 || n_positive == n_rows {
        let label = if n_positive > 0 { "positive" } else { "negative" };
        let column = &schema.label.column;
        let message = format!("every row has a {label} label in column `{column}`");
        warnings.push(warning(file, WarningCode::OneClass, message));
    }
    let n_privileged = privileged[0] + privileged[1];
    if n_privileged == 0 || n_privileged == n_rows {
        let group = if n_privileged > 0 { "privileged" } else { "unprivileged" };
        let column = &schema.sensitive.column;
        let message = format!(
            "every row is {group} in column `{column}`, so fairness cannot be measured on this table"
        );
        warnings.push(warning(file, WarningCode::OneGroup, message));
    }
    warnings
}

/// Warnings about a label or sensitive column with more than two values.
pub(crate) fn many_values<'a>(
    file: &'a Path,
    Schema { label, sensitive, .. }: &'a Schema,
    labels: &'a Distinct,
    groups: &'a Distinct,
) -> impl Iterator<Item = Warning> + 'a {
    let label = ("label", &label.column, labels, &label.positive, "negative");
    let group = ("sensitive", &sensitive.column, groups, &sensitive.privileged, "unprivileged");
    let columns =
        [(WarningCode::ManyLabelValues, label), (WarningCode::ManySensitiveValues, group)];
    let many = columns.into_iter().filter(|(_, column)| column.2.len() > 2);
    many.map(move |(code, (role, column, seen, value, rest))| {
        let values = list(&seen.names());
        let message = format!(
            "{role} column `{column}` has more than two values: {values}; everything but `{value}` counts as {rest}"
        );
        warning(file, code, message)
    })
}
