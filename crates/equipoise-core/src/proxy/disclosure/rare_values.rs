//! Rare levels and extreme numbers of the data that can still be seen in a proxy.

use serde::Serialize;

use super::super::columns::{ClientData, EncodedColumn};
use crate::rows::Rows;

/// A level of fewer rows is rare: it may point to a person.
const RARE: usize = 10;
/// Numbers further than this from the schema's center, in scales, are extreme.
const EXTREME: f64 = 4.0;
/// A feature that varies by less than this is constant, up to rounding.
const CONSTANT: f64 = 1e-9;

/// What is rare in the data, and whether the proxy shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RareValues {
    /// Levels that at least one row has, but fewer than 10.
    pub levels: Vec<RareLevel>,
    /// Columns with extreme numbers.
    pub outliers: Vec<Outliers>,
}

/// A rare level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RareLevel {
    /// The index of its feature.
    pub feature: usize,
    /// Rows of the data that have it.
    pub rows: usize,
    /// Whether its column varies in the proxy, which it does not if nobody has the level.
    pub visible: bool,
}

/// A column with numbers more than 4 scales from the schema's center.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outliers {
    /// The index of its feature.
    pub feature: usize,
    /// Rows of the data with such a number.
    pub rows: usize,
    /// The largest size of a number in the data, in scales.
    pub largest: f64,
    /// The largest size in the proxy.
    pub largest_in_proxy: f64,
}

impl RareValues {
    pub(super) fn of(proxy: &Rows, data: &ClientData<'_>) -> Self {
        let column = |rows: &Rows, feature: usize| -> Vec<f64> {
            (0..rows.len()).map(|i| rows.x(i)[feature]).collect()
        };
        let (mut levels, mut outliers) = (Vec::new(), Vec::new());
        for (kind, place) in data.columns.iter() {
            for feature in place {
                let (own, sent) = (column(data.rows, feature), column(proxy, feature));
                if kind == EncodedColumn::Number {
                    let rows = own.iter().filter(|v| v.abs() > EXTREME).count();
                    if rows > 0 {
                        let [largest, largest_in_proxy] = [largest(&own), largest(&sent)];
                        outliers.push(Outliers { feature, rows, largest, largest_in_proxy });
                    }
                } else {
                    let rows = own.iter().filter(|v| **v > 0.5).count();
                    if (1..RARE).contains(&rows) {
                        let visible = range(&sent) > CONSTANT;
                        levels.push(RareLevel { feature, rows, visible });
                    }
                }
            }
        }
        Self { levels, outliers }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, v| largest.max(v.abs()))
}

fn range(values: &[f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    highest - values.iter().copied().fold(f64::INFINITY, f64::min)
}
