//! Checks that a description is consistent: it comes from someone else, and may have been edited.

use std::collections::HashSet;

use super::{ColumnKind, DescribedColumn, Description, ValueRows};
use crate::schema::statistics::MAX_LEVELS;
use crate::table::Cell;
use crate::value::{Value, finite_number};

/// More rows than any table has, and few enough that sums of counts do not overflow.
const MAX_ROWS: u64 = 1 << 48;

pub(super) fn check(description: &Description) -> Result<(), String> {
    let Description { rows, label, sensitive, .. } = description;
    if *rows == 0 || *rows > MAX_ROWS {
        return Err(format!(
            "`rows` is {rows}, which is not the number of rows of a table. {REMEDY}"
        ));
    }
    names(description)?;
    let roles = sensitive.iter().map(|role| (role, ColumnKind::Sensitive, "sensitive"));
    for (role, kind, name) in roles.chain([(label, ColumnKind::Label, "label")]) {
        if description.column(&role.column).is_none_or(|column| column.kind != kind) {
            let column = &role.column;
            return Err(format!("`{column}` is not described as a {name} column. {REMEDY}"));
        }
    }
    let n_roles = description.columns.iter().filter(|column| column.kind.is_role()).count();
    if n_roles != sensitive.len() + 1 {
        return Err(format!(
            "the columns have other roles than `label` and `sensitive` say. {REMEDY}"
        ));
    }
    for column in &description.columns {
        let in_column = |problem| format!("column `{}`: {problem} {REMEDY}", column.column);
        counts(column, *rows).and_then(|()| values(column)).map_err(in_column)?;
    }
    groups(description).map_err(|problem| format!("the groups: {problem} {REMEDY}"))
}

const REMEDY: &str = "Use the file as `schema describe` wrote it.";

/// Names are trimmed, distinct and not empty, and there is a sensitive column.
fn names(description: &Description) -> Result<(), String> {
    if description.client.trim().is_empty() {
        return Err(format!("`client` is empty. {REMEDY}"));
    }
    if description.sensitive.is_empty() {
        return Err(format!("`sensitive` has no columns. {REMEDY}"));
    }
    let mut seen = HashSet::new();
    let columns = description.columns.iter().map(|column| &column.column);
    for column in columns.chain(&description.dropped) {
        if column.is_empty() || column.trim() != column || !seen.insert(column) {
            return Err(format!(
                "`{column}` is not the name of a column: it is empty, begins or ends with white space, or appears twice. {REMEDY}"
            ));
        }
    }
    Ok(())
}

/// The counts of a column add up to the number of rows, and its moments are possible.
fn counts(column: &DescribedColumn, rows: u64) -> Result<(), String> {
    let listed = column.values.as_deref().map(sum);
    if column.kind == ColumnKind::Sensitive {
        return match (column.missing <= rows, listed, column.moments) {
            (true, None, None) => Ok(()),
            _ => Err("a sensitive column has only a count of missing values.".to_owned()),
        };
    }
    let moments = column.moments.map(|moments| moments.count);
    if let (Some(listed), Some(count)) = (listed, moments)
        && listed != Some(count)
    {
        return Err(format!("its values and its moments have different counts ({count})."));
    }
    let present = listed.unwrap_or(moments.or(Some(0)));
    let total = [present, Some(column.missing), Some(column.withheld)]
        .into_iter()
        .try_fold(0u64, |total, count| total.checked_add(count?));
    if total != Some(rows) {
        return Err(format!("its counts do not add up to {rows} rows."));
    }
    match column.moments {
        Some(m) if !m.mean.is_finite() || !m.variance.is_finite() || m.variance < 0.0 => {
            Err("its mean or variance is impossible.".to_owned())
        }
        Some(_) if column.kind != ColumnKind::Numeric => {
            Err("only numeric columns have moments.".to_owned())
        }
        _ => Ok(()),
    }
}

/// Values are distinct, not missing, and numbers in a numeric column.
fn values(column: &DescribedColumn) -> Result<(), String> {
    let Some(values) = &column.values else {
        return match column.kind {
            ColumnKind::Numeric | ColumnKind::Sensitive => Ok(()),
            _ => Err("its values are missing.".to_owned()),
        };
    };
    if values.len() > MAX_LEVELS {
        return Err(format!("it has more than {MAX_LEVELS} values."));
    }
    let mut seen: Vec<Value> = Vec::new();
    for ValueRows { value, .. } in values {
        let is_number = finite_number(value).is_some();
        let parsed = Value::of_text(value);
        if Cell::of_text(value) == Cell::Missing
            || seen.contains(&parsed)
            || (column.kind == ColumnKind::Numeric && !is_number)
        {
            return Err(format!("`{value}` cannot be one of its values, or appears twice."));
        }
        seen.push(parsed);
    }
    Ok(())
}

/// Combinations are distinct, have one value per column, and are not more than the rows.
fn groups(description: &Description) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut total = Some(description.withheld_groups);
    for group in &description.groups {
        let is_missing = |value: &String| Cell::of_text(value) == Cell::Missing;
        if group.values.len() != description.sensitive.len()
            || group.values.iter().any(is_missing)
            || !seen.insert(&group.values)
        {
            return Err(format!(
                "`{}` is not a combination of one value per sensitive column, or appears twice.",
                group.values.join(", ")
            ));
        }
        total = total.and_then(|total| total.checked_add(group.rows));
    }
    if total.is_none_or(|total| total > description.rows) {
        return Err(format!("there are more than {} rows in them.", description.rows));
    }
    Ok(())
}

fn sum(values: &[ValueRows]) -> Option<u64> {
    values.iter().try_fold(0u64, |total, value| total.checked_add(value.rows))
}
