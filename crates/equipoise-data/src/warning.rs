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
pub(crate) fn one_sided(file: &Path, schema: &Schema, cell_counts: &[[usize; 2]]) -> Vec<Warning> {
    let n_rows: usize = cell_counts.as_flattened().iter().sum();
    let mut warnings = Vec::new();
    let n_positive: usize = cell_counts.iter().map(|cell| cell[1]).sum();
    if n_positive == 0 || n_positive == n_rows {
        let label = if n_positive > 0 { "positive" } else { "negative" };
        let column = &schema.label.column;
        let message = format!("every row has a {label} label in column `{column}`");
        warnings.push(warning(file, WarningCode::OneClass, message));
    }
    if let Some(group) = only_group(schema, cell_counts) {
        let message = format!(
            "every row is in the group `{group}`, so fairness cannot be measured on this table"
        );
        warnings.push(warning(file, WarningCode::OneGroup, message));
    }
    warnings
}

/// A warning if all rows to be scored are in one group. A misspelt group would count as another one.
pub(crate) fn scored_as_one_group(
    file: &Path,
    schema: &Schema,
    cell_counts: &[[usize; 2]],
) -> Option<Warning> {
    let group = only_group(schema, cell_counts)?;
    let columns = list(&schema.sensitive.columns);
    let message = format!(
        "every row is scored as `{group}`. If that is wrong, check the values of {columns}"
    );
    Some(warning(file, WarningCode::OneGroup, message))
}

/// The group that all rows are in, if there is only one.
fn only_group<'a>(schema: &'a Schema, cell_counts: &[[usize; 2]]) -> Option<&'a str> {
    let groups = cell_counts.iter().zip(&schema.sensitive.groups);
    let mut present = groups.filter(|(cell, _)| cell[0] + cell[1] > 0);
    let (_, first) = present.next()?;
    present.next().is_none().then_some(first.name.as_str())
}

/// Warnings about a label column, or a sensitive column with a privileged value, that has more than two values.
pub(crate) fn many_values<'a>(
    file: &'a Path,
    Schema { label, sensitive, .. }: &'a Schema,
    labels: &'a Distinct,
    groups: &'a Distinct,
) -> impl Iterator<Item = Warning> + 'a {
    let label_has_rest = label.negative.is_empty();
    let label = ("label", &label.column, labels, label.positive.as_str(), "negative");
    // The schema may list all values.
    let has_rest = sensitive.unprivileged().is_empty();
    let group = sensitive.privileged().filter(|_| has_rest).map(|value| {
        let column = ("sensitive", &sensitive.columns[0], groups, value, "unprivileged");
        (WarningCode::ManySensitiveValues, column)
    });
    // The schema may list all labels.
    let label = label_has_rest.then_some((WarningCode::ManyLabelValues, label));
    let columns = label.into_iter().chain(group);
    let many = columns.filter(|(_, column)| column.2.len() > 2);
    many.map(move |(code, (role, column, seen, value, rest))| {
        let values = list(&seen.names());
        let message = format!(
            "{role} column `{column}` has more than two values: {values}; everything but `{value}` counts as {rest}"
        );
        warning(file, code, message)
    })
}

/// A warning about values that are not levels of their features and count as other. It counts them and does not name
/// them, because warnings about a root are published.
pub(crate) fn unknown_levels(file: &Path, schema: &Schema, counts: &[u64]) -> Option<Warning> {
    let of_feature = schema.features.iter().zip(counts).filter(|(_, count)| **count > 0);
    let counts: Vec<String> =
        of_feature.map(|(feature, count)| format!("`{}` ({count})", feature.column)).collect();
    (!counts.is_empty()).then(|| {
        let message = format!(
            "values that are not in the schema count as other, with 0 in every encoded column of the feature: {}",
            counts.join(", ")
        );
        warning(file, WarningCode::UnknownLevels, message)
    })
}
