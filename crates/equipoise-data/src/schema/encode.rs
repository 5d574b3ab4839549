//! Raw cells become numbers.

use super::{Encoding, Feature, Schema};
use crate::error::CellProblem;
use crate::table::Cell;
use crate::value::Value;
use equipoise_core::MAX_ABS_VALUE;

/// A schema made ready for many rows: all its values are parsed.
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
    ) -> Result<(), CellProblem> {
        self.features[i].encode(cell, x)
    }

    /// Whether the label is the positive one.
    pub(crate) fn positive(&self, cell: Cell<'_>) -> Result<bool, CellProblem> {
        is(&self.positive, cell, "label")
    }

    /// Whether the row is of the privileged group.
    pub(crate) fn privileged(&self, cell: Cell<'_>) -> Result<bool, CellProblem> {
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

    fn encode(&self, cell: Cell<'_>, x: &mut Vec<f64>) -> Result<(), CellProblem> {
        match self {
            Self::Numeric { center, scale, fill } => {
                let number = match (cell, fill) {
                    (Cell::Missing, Some(fill)) => *fill,
                    (Cell::Missing, None) => return Err(CellProblem::Missing),
                    _ => finite(cell)?,
                };
                let scaled = (number - center) / scale;
                if !scaled.is_finite() || scaled.abs() > MAX_ABS_VALUE {
                    return Err(CellProblem::OverflowsWhenScaled {
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
                    (Cell::Missing, None) => return Err(CellProblem::Missing),
                    _ => values.iter().position(|value| value.is(cell)).ok_or_else(|| {
                        CellProblem::UnknownLevel {
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

fn is(value: &Value, cell: Cell<'_>, role: &'static str) -> Result<bool, CellProblem> {
    match cell {
        Cell::Missing => Err(CellProblem::MissingRole { role }),
        _ => Ok(value.is(cell)),
    }
}

fn finite(cell: Cell<'_>) -> Result<f64, CellProblem> {
    let number =
        cell.number().ok_or_else(|| CellProblem::NotANumber { value: cell.to_string() })?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(CellProblem::NotFinite { value: cell.to_string() })
    }
}
