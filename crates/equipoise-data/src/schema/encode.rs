//! Encodes raw cells as numbers.

use super::{Encoding, Feature, Schema, Unknown};
use crate::error::{TableProblem, list};
use crate::table::Cell;
use crate::value::Value;
use equipoise_core::MAX_ABS_VALUE;

/// A schema with all its values parsed, ready to encode many rows.
pub(crate) struct Encoder {
    features: Vec<FeatureEncoder>,
    positive: Value,
    /// Empty: every value except the positive one is negative.
    negative: Vec<Value>,
    groups: Vec<GroupEncoder>,
    /// The group of everyone else.
    rest: Option<u8>,
}

/// How a cell became numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// By its value.
    AsIs,
    /// It is missing, and the schema's `fill` stands for it.
    Filled,
    /// Its value is not a level and counts as other.
    Other,
    /// By its value, which is more than [`UNUSUAL`] standard deviations from the mean.
    Unusual,
}

/// Standard deviations from the mean beyond which a number is more likely a mistake: a height in millimetres, a missing
/// decimal point.
pub(crate) const UNUSUAL: f64 = 10.0;

/// A combination of values and its group.
struct GroupEncoder {
    values: Vec<Value>,
    group: u8,
}

enum FeatureEncoder {
    Numeric { center: f64, scale: f64, fill: Option<f64> },
    Categorical { levels: Vec<String>, values: Vec<Value>, fill: Option<usize>, unknown: Unknown },
}

impl Encoder {
    pub(crate) fn new(schema: &Schema) -> Self {
        let indexed = || schema.sensitive.groups.iter().zip(0u8..);
        let members = indexed().flat_map(|(group, index)| {
            group.members.iter().map(move |values| GroupEncoder {
                values: values.iter().map(|value| Value::of_text(value)).collect(),
                group: index,
            })
        });
        Self {
            features: schema.features.iter().map(FeatureEncoder::new).collect(),
            positive: Value::of_text(&schema.label.positive),
            negative: schema.label.negative.iter().map(|label| Value::of_text(label)).collect(),
            groups: members.collect(),
            rest: indexed().find(|(group, _)| group.members.is_empty()).map(|(_, index)| index),
        }
    }

    /// Appends the numbers of feature `i`.
    pub(crate) fn feature(
        &self,
        i: usize,
        cell: Cell<'_>,
        x: &mut Vec<f64>,
    ) -> Result<Encoded, TableProblem> {
        self.features[i].encode(cell, x)
    }

    pub(crate) fn positive(&self, cell: Cell<'_>) -> Result<bool, TableProblem> {
        if cell == Cell::Missing {
            return Err(missing_role("label"));
        }
        let is_positive = self.positive.is(cell);
        if is_positive || self.negative.is_empty() || self.negative.iter().any(|v| v.is(cell)) {
            return Ok(is_positive);
        }
        let negative: Vec<String> = self.negative.iter().map(Value::to_string).collect();
        Err(TableProblem::of_value(
            cell,
            format!("is not a label: the schema has `{}` and {}", self.positive, list(&negative)),
            "Correct the value, or agree on a schema that lists it under `negative`.",
        ))
    }

    /// The group of the sensitive columns' values. A problem comes with the index of its cell.
    pub(crate) fn group(&self, cells: &[Cell<'_>]) -> Result<u8, (usize, TableProblem)> {
        if let Some(at) = cells.iter().position(|cell| *cell == Cell::Missing) {
            return Err((at, missing_role("sensitive attribute")));
        }
        let is_member = |member: &&GroupEncoder| {
            member.values.iter().zip(cells).all(|(value, cell)| value.is(*cell))
        };
        let own = self.groups.iter().find(is_member).map(|member| member.group);
        own.or(self.rest).ok_or_else(|| self.no_group(cells))
    }

    /// The first cell whose value no group has, or the first one if only the combination is unknown.
    fn no_group(&self, cells: &[Cell<'_>]) -> (usize, TableProblem) {
        let is_unknown =
            |at: &usize| !self.groups.iter().any(|member| member.values[*at].is(cells[*at]));
        if let Some(at) = (0..cells.len()).find(is_unknown) {
            let mut known: Vec<String> = Vec::new();
            for name in self.groups.iter().map(|member| member.values[at].to_string()) {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
            return (
                at,
                TableProblem::of_value(
                    cells[at],
                    format!("belongs to no group: the schema has {}", list(&known)),
                    "Correct the value, or agree on a schema that includes it.",
                ),
            );
        }
        let values: Vec<String> = cells.iter().map(|cell| format!("`{cell}`")).collect();
        (
            0,
            TableProblem::of_cell(
                format!("the combination {} belongs to no group", values.join(", ")),
                "Correct the row, or agree on a schema that includes it.",
            ),
        )
    }
}

impl FeatureEncoder {
    fn new(feature: &Feature) -> Self {
        match &feature.encoding {
            Encoding::Numeric { center, scale, fill } => {
                Self::Numeric { center: *center, scale: *scale, fill: *fill }
            }
            Encoding::Categorical { levels, fill, unknown } => {
                let values: Vec<Value> = levels.iter().map(|level| Value::of_text(level)).collect();
                let fill = fill.as_ref().and_then(|fill| {
                    let fill = Value::of_text(fill);
                    values.iter().position(|value| *value == fill)
                });
                Self::Categorical { levels: levels.clone(), values, fill, unknown: *unknown }
            }
        }
    }

    fn encode(&self, cell: Cell<'_>, x: &mut Vec<f64>) -> Result<Encoded, TableProblem> {
        let is_missing = cell == Cell::Missing;
        match self {
            Self::Numeric { center, scale, fill } => {
                let number = match (cell, fill) {
                    (Cell::Missing, Some(fill)) => *fill,
                    (Cell::Missing, None) => return Err(missing()),
                    _ => finite(cell)?,
                };
                let scaled = (number - center) / scale;
                if !scaled.is_finite() || scaled.abs() > MAX_ABS_VALUE {
                    return Err(TableProblem::of_value(
                        cell,
                        format!(
                            "is beyond ±1e12 once encoded as (value − center) / scale, with center {center:e} and scale {scale:e}"
                        ),
                        "Correct the value, or correct the center and scale in the schema.",
                    ));
                }
                x.push(scaled);
                // Columns of 0 and 1 are not standardised.
                let is_standardised = (*center, *scale) != (0.0, 1.0);
                if is_standardised && !is_missing && scaled.abs() > UNUSUAL {
                    return Ok(Encoded::Unusual);
                }
            }
            Self::Categorical { levels, values, fill, unknown } => {
                let level = match (cell, fill) {
                    (Cell::Missing, Some(fill)) => Some(*fill),
                    (Cell::Missing, None) => return Err(missing()),
                    _ => values.iter().position(|value| value.is(cell)),
                };
                if level.is_none() && *unknown == Unknown::Error {
                    return Err(TableProblem::of_value(
                        cell,
                        format!("is not one of the levels {}", list(levels)),
                        "Correct the value, or agree on a schema that includes it.",
                    ));
                }
                x.extend((0..levels.len()).map(|i| f64::from(Some(i) == level)));
                if level.is_none() {
                    return Ok(Encoded::Other);
                }
            }
        }
        Ok(if is_missing { Encoded::Filled } else { Encoded::AsIs })
    }
}

fn missing() -> TableProblem {
    TableProblem::of_cell(
        "the value is missing",
        "Complete or remove the row, or add a `fill` to the schema.",
    )
}

fn missing_role(role: &str) -> TableProblem {
    TableProblem::of_cell(
        format!("the {role} is missing and cannot be filled"),
        "Complete or remove the row.",
    )
}

fn finite(cell: Cell<'_>) -> Result<f64, TableProblem> {
    match cell.number() {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(TableProblem::not_finite(cell)),
        None => Err(TableProblem::not_a_number(
            cell,
            "Correct the value, or declare the column categorical in the schema.",
        )),
    }
}
