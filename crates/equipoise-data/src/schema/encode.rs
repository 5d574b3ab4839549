//! Encodes raw cells as numbers.

use super::{Encoding, Feature, Schema};
use crate::error::TableProblem;
use crate::table::Cell;
use crate::value::Value;
use equipoise_core::MAX_ABS_VALUE;

/// A schema with all its values parsed, ready to encode many rows.
pub(crate) struct Encoder {
    features: Vec<FeatureEncoder>,
    positive: Value,
    privileged: Value,
}

enum FeatureEncoder {
    Numeric { center: f64, scale: f64, fill: Option<f64> },
    Categorical { levels: Vec<String>, values: Vec<Value>, fill: Option<usize> },
}

impl Encoder {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self {
            features: schema.features.iter().map(FeatureEncoder::new).collect(),
            positive: Value::of_text(&schema.label.positive),
            privileged: Value::of_text(&schema.sensitive.privileged),
        }
    }

    /// Appends the numbers of feature `i`.
    pub(crate) fn feature(
        &self,
        i: usize,
        cell: Cell<'_>,
        x: &mut Vec<f64>,
    ) -> Result<(), TableProblem> {
        self.features[i].encode(cell, x)
    }

    /// Whether the label is the positive one.
    pub(crate) fn positive(&self, cell: Cell<'_>) -> Result<bool, TableProblem> {
        is(&self.positive, cell, "label")
    }

    /// Whether the row is of the privileged group.
    pub(crate) fn privileged(&self, cell: Cell<'_>) -> Result<bool, TableProblem> {
        is(&self.privileged, cell, "sensitive attribute")
    }
}

impl FeatureEncoder {
    fn new(feature: &Feature) -> Self {
        match &feature.encoding {
            Encoding::Numeric { center, scale, fill } => {
                Self::Numeric { center: *center, scale: *scale, fill: *fill }
            }
            Encoding::Categorical { levels, fill } => {
                let values: Vec<Value> = levels.iter().map(|level| Value::of_text(level)).collect();
                let fill = fill.as_ref().and_then(|fill| {
                    let fill = Value::of_text(fill);
                    values.iter().position(|value| *value == fill)
                });
                Self::Categorical { levels: levels.clone(), values, fill }
            }
        }
    }

    fn encode(&self, cell: Cell<'_>, x: &mut Vec<f64>) -> Result<(), TableProblem> {
        match self {
            Self::Numeric { center, scale, fill } => {
                let number = match (cell, fill) {
                    (Cell::Missing, Some(fill)) => *fill,
                    (Cell::Missing, None) => return Err(TableProblem::Missing),
                    _ => finite(cell)?,
                };
                let scaled = (number - center) / scale;
                if !scaled.is_finite() || scaled.abs() > MAX_ABS_VALUE {
                    return Err(TableProblem::OverflowsWhenScaled {
                        value: cell.to_string(),
                        center: *center,
                        scale: *scale,
                    });
                }
                x.push(scaled);
            }
            Self::Categorical { levels, values, fill } => {
                let level = match (cell, fill) {
                    (Cell::Missing, Some(fill)) => *fill,
                    (Cell::Missing, None) => return Err(TableProblem::Missing),
                    _ => values.iter().position(|value| value.is(cell)).ok_or_else(|| {
                        TableProblem::UnknownLevel {
                            value: cell.to_string(),
                            levels: levels.clone(),
                        }
                    })?,
                };
                x.extend((0..levels.len()).map(|i| f64::from(i == level)));
            }
        }
        Ok(())
    }
}

fn is(value: &Value, cell: Cell<'_>, role: &'static str) -> Result<bool, TableProblem> {
    match cell {
        Cell::Missing => Err(TableProblem::MissingRole(role)),
        _ => Ok(value.is(cell)),
    }
}

fn finite(cell: Cell<'_>) -> Result<f64, TableProblem> {
    match cell.number() {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(TableProblem::NotFinite(cell.to_string())),
        None => Err(TableProblem::NotANumber(cell.to_string())),
    }
}
