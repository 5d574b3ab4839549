//! Whether a schema holds together.

use std::collections::HashSet;

use super::{Encoding, Feature, Schema, VERSION};
use crate::table::Cell;
use crate::value::Value;

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// A version that this program does not know.
    #[error("schema version {found} is not known here, only {VERSION}. Use a newer program.")]
    Version {
        /// The version found.
        found: u32,
    },
    /// There is nothing to predict from.
    #[error("the schema has no feature. Add at least one [[feature]].")]
    NoFeatures,
    /// A column without a name, or with white space around it, which no table has after trimming.
    #[error("`{column}` cannot be the name of a column: it is empty or has white space around it.")]
    ColumnName {
        /// The name.
        column: String,
    },
    /// A column has two roles.
    #[error(
        "column `{column}` comes twice among label, sensitive, features and ignore. Keep it once."
    )]
    DuplicateColumn {
        /// The column.
        column: String,
    },
    /// Two columns of a proxy, or two entries of θ, would have the same name.
    #[error("two encoded columns would be called `{name}`. Rename a column or a level.")]
    DuplicateEncodedName {
        /// The name.
        name: String,
    },
    /// A scale that is zero, negative or not finite.
    #[error("column `{column}`: scale is {scale}, but must be a finite number above 0.")]
    Scale {
        /// The column.
        column: String,
        /// The scale.
        scale: f64,
    },
    /// A center that is not finite.
    #[error("column `{column}`: center is {center}, but must be a finite number.")]
    Center {
        /// The column.
        column: String,
        /// The center.
        center: f64,
    },
    /// A categorical feature without levels.
    #[error("column `{column}`: has no levels. List the values that may occur.")]
    NoLevels {
        /// The column.
        column: String,
    },
    /// A level with white space around it, which the names of a proxy's columns would lose.
    #[error("column `{column}`: the level `{level}` has white space around it. Remove it.")]
    LevelName {
        /// The column.
        column: String,
        /// The level.
        level: String,
    },
    /// Two levels are the same value.
    #[error("column `{column}`: the levels `{first}` and `{second}` are the same value. Keep one.")]
    SameLevel {
        /// The column.
        column: String,
        /// One spelling.
        first: String,
        /// The other.
        second: String,
    },
    /// A value that stands for "missing" in tables and so can never be met.
    #[error(
        "column `{column}`: `{value}` means a missing value in a table, so it cannot be a level, the positive or the privileged value."
    )]
    MeansMissing {
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// A numeric fill that is not finite, or not once it is encoded.
    #[error("column `{column}`: fill is {fill}, which is no finite number after encoding.")]
    Fill {
        /// The column.
        column: String,
        /// The fill.
        fill: f64,
    },
    /// A categorical fill that is not a level.
    #[error("column `{column}`: the fill `{fill}` is not one of its levels.")]
    FillLevel {
        /// The column.
        column: String,
        /// The fill.
        fill: String,
    },
}

pub(super) fn version(found: u32) -> Result<(), SchemaProblem> {
    if found == VERSION { Ok(()) } else { Err(SchemaProblem::Version { found }) }
}

pub(super) fn check(schema: &Schema) -> Result<(), SchemaProblem> {
    version(schema.version)?;
    if schema.features.is_empty() {
        return Err(SchemaProblem::NoFeatures);
    }
    columns(schema)?;
    not_missing(&schema.label.column, &schema.label.positive)?;
    not_missing(&schema.sensitive.column, &schema.sensitive.privileged)?;
    schema.features.iter().try_for_each(feature)?;
    encoded_names(schema)
}

fn columns(schema: &Schema) -> Result<(), SchemaProblem> {
    let roles = [&schema.label.column, &schema.sensitive.column];
    let features = schema.features.iter().map(|feature| &feature.column);
    let mut seen = HashSet::new();
    for column in roles.into_iter().chain(features).chain(&schema.ignore) {
        if column.is_empty() || column.trim() != column {
            return Err(SchemaProblem::ColumnName { column: column.clone() });
        }
        if !seen.insert(column) {
            return Err(SchemaProblem::DuplicateColumn { column: column.clone() });
        }
    }
    Ok(())
}

fn feature(feature: &Feature) -> Result<(), SchemaProblem> {
    let column = || feature.column.clone();
    match &feature.encoding {
        Encoding::Numeric { center, scale, fill } => {
            if !center.is_finite() {
                return Err(SchemaProblem::Center { column: column(), center: *center });
            }
            if !scale.is_finite() || *scale <= 0.0 {
                return Err(SchemaProblem::Scale { column: column(), scale: *scale });
            }
            match fill {
                Some(fill) if !((fill - center) / scale).is_finite() => {
                    Err(SchemaProblem::Fill { column: column(), fill: *fill })
                }
                _ => Ok(()),
            }
        }
        Encoding::Categorical { levels, fill } => {
            if levels.is_empty() {
                return Err(SchemaProblem::NoLevels { column: column() });
            }
            let values: Vec<Value> = levels.iter().map(|level| Value::of_text(level)).collect();
            for (i, level) in levels.iter().enumerate() {
                not_missing(&feature.column, level)?;
                if level.trim() != level {
                    return Err(SchemaProblem::LevelName {
                        column: column(),
                        level: level.clone(),
                    });
                }
                if let Some(same) = values[..i].iter().position(|value| *value == values[i]) {
                    return Err(SchemaProblem::SameLevel {
                        column: column(),
                        first: levels[same].clone(),
                        second: level.clone(),
                    });
                }
            }
            match fill {
                Some(fill) if !values.contains(&Value::of_text(fill)) => {
                    Err(SchemaProblem::FillLevel { column: column(), fill: fill.clone() })
                }
                _ => Ok(()),
            }
        }
    }
}

fn not_missing(column: &str, value: &str) -> Result<(), SchemaProblem> {
    if Cell::of_text(value) == Cell::Missing {
        return Err(SchemaProblem::MeansMissing {
            column: column.to_string(),
            value: value.to_string(),
        });
    }
    Ok(())
}

/// Names must differ among the columns of a proxy and among the entries of θ.
fn encoded_names(schema: &Schema) -> Result<(), SchemaProblem> {
    let mut names = schema.theta_names();
    names.push(schema.label.column.clone());
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(SchemaProblem::DuplicateEncodedName { name: name.clone() }),
        None => Ok(()),
    }
}
