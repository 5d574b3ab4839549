//! Checks that a schema is consistent.

use std::collections::HashSet;

use equipoise_core::Groups;

use super::{Encoding, Feature, Label, Schema, Sensitive, VERSION};
use crate::table::Cell;
use crate::value::Value;

/// What is wrong with a schema, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaProblem(String);

fn problem(text: String) -> Result<(), SchemaProblem> {
    Err(SchemaProblem(text))
}

pub(super) fn version(found: u32) -> Result<(), SchemaProblem> {
    if found == VERSION {
        return Ok(());
    }
    problem(format!(
        "schema version {found} is not supported, only version {VERSION}. Use a newer version of this program."
    ))
}

pub(super) fn check(schema: &Schema) -> Result<(), SchemaProblem> {
    version(schema.version)?;
    if schema.features.is_empty() {
        return problem("the schema has no feature. Add at least one [[feature]].".to_owned());
    }
    columns(schema)?;
    label(&schema.label)?;
    sensitive(&schema.sensitive)?;
    schema.features.iter().try_for_each(feature)?;
    encoded_names(schema)
}

/// Tables have trimmed names, and each column has one role.
fn columns(schema: &Schema) -> Result<(), SchemaProblem> {
    let roles = [&schema.label.column].into_iter().chain(&schema.sensitive.columns);
    let features = schema.features.iter().map(|feature| &feature.column);
    let mut seen = HashSet::new();
    for column in roles.chain(features).chain(&schema.ignore) {
        if column.is_empty() || column.trim() != column {
            return problem(format!(
                "`{column}` cannot be the name of a column: it is empty, or begins or ends with white space."
            ));
        }
        if !seen.insert(column) {
            return problem(format!(
                "column `{column}` appears twice among label, sensitive, features and ignore. List it once."
            ));
        }
    }
    Ok(())
}

/// No value counts twice.
fn label(Label { column, positive, negative }: &Label) -> Result<(), SchemaProblem> {
    let mut seen = Vec::new();
    for label in std::iter::once(positive).chain(negative) {
        not_missing(column, label)?;
        let value = Value::of_text(label);
        if seen.contains(&value) {
            return problem(format!(
                "column `{column}`: `{label}` appears twice among the positive and negative labels. List it once."
            ));
        }
        seen.push(value);
    }
    Ok(())
}

/// Every combination of values belongs to at most one group.
fn sensitive(sensitive: &Sensitive) -> Result<(), SchemaProblem> {
    let Sensitive { columns, groups, reference, .. } = sensitive;
    if columns.is_empty() {
        return problem("`sensitive` has no columns. Name at least one.".to_owned());
    }
    let names = groups.iter().map(|group| group.name.clone()).collect();
    if let Err(error) = Groups::new(names, *reference) {
        return problem(format!("`sensitive`: {error}."));
    }
    if groups.iter().filter(|group| group.members.is_empty()).count() > 1 {
        return problem(
            "two groups of `sensitive` have no members. Only one group can have everyone else."
                .to_owned(),
        );
    }
    let mut seen: Vec<(Vec<Value>, &str)> = Vec::new();
    for group in groups {
        let name = &group.name;
        if name.is_empty() || name.trim() != name {
            return problem(format!(
                "`{name}` cannot be the name of a group: it is empty, or begins or ends with white space."
            ));
        }
        for values in &group.members {
            if values.len() != columns.len() {
                return problem(format!(
                    "a member of the group `{name}` has {} values, but `sensitive` has {} columns. List one value per column.",
                    values.len(),
                    columns.len()
                ));
            }
            columns
                .iter()
                .zip(values)
                .try_for_each(|(column, value)| not_missing(column, value))?;
            let member: Vec<Value> = values.iter().map(|value| Value::of_text(value)).collect();
            if let Some((_, other)) = seen.iter().find(|(earlier, _)| *earlier == member) {
                return problem(format!(
                    "`{}` is a member of the groups `{other}` and `{name}`. List it once.",
                    values.join(", ")
                ));
            }
            seen.push((member, name));
        }
    }
    Ok(())
}

fn feature(Feature { column, encoding }: &Feature) -> Result<(), SchemaProblem> {
    match encoding {
        Encoding::Numeric { center, scale, fill } => {
            if !center.is_finite() {
                return problem(format!(
                    "column `{column}`: center is {center}, but must be a finite number."
                ));
            }
            if !scale.is_finite() || *scale <= 0.0 {
                return problem(format!(
                    "column `{column}`: scale is {scale}, but must be a finite number above 0."
                ));
            }
            match fill {
                Some(fill) if !((fill - center) / scale).is_finite() => problem(format!(
                    "column `{column}`: fill is {fill}, which is not a finite number after encoding."
                )),
                _ => Ok(()),
            }
        }
        Encoding::Categorical { levels, fill, .. } => {
            if levels.is_empty() {
                return problem(format!(
                    "column `{column}`: has no levels. List the values that may occur."
                ));
            }
            let values: Vec<Value> = levels.iter().map(|level| Value::of_text(level)).collect();
            for (i, level) in levels.iter().enumerate() {
                not_missing(column, level)?;
                // The column names of a proxy would lose it.
                if level.trim() != level {
                    return problem(format!(
                        "column `{column}`: the level `{level}` begins or ends with white space. Remove the white space."
                    ));
                }
                if let Some(same) = values[..i].iter().position(|value| *value == values[i]) {
                    return problem(format!(
                        "column `{column}`: the levels `{}` and `{level}` are the same value. Keep one.",
                        levels[same]
                    ));
                }
            }
            match fill {
                Some(fill) if !values.contains(&Value::of_text(fill)) => problem(format!(
                    "column `{column}`: the fill `{fill}` is not one of its levels."
                )),
                _ => Ok(()),
            }
        }
    }
}

fn not_missing(column: &str, value: &str) -> Result<(), SchemaProblem> {
    if Cell::of_text(value) != Cell::Missing {
        return Ok(());
    }
    problem(format!(
        "column `{column}`: `{value}` means a missing value in a table, so it cannot be a level, the positive or the \
         privileged value."
    ))
}

/// Names must be distinct among the columns of a proxy and among the entries of θ.
fn encoded_names(schema: &Schema) -> Result<(), SchemaProblem> {
    distinct(schema.theta_names())?;
    distinct(crate::proxy::columns(schema))
}

fn distinct(names: Vec<String>) -> Result<(), SchemaProblem> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(name) => problem(format!(
            "two encoded columns would be called `{name}`. Rename a column or a level."
        )),
    }
}
