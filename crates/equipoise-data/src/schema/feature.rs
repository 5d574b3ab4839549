//! A feature: a raw column and how it becomes numbers.

use equipoise_core::choices;
use serde::{Deserialize, Serialize};

/// A raw column and its encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Entry", into = "Entry")]
pub struct Feature {
    /// The column of the raw table.
    pub column: String,
    /// How its values become numbers.
    pub encoding: Encoding,
}

/// How raw values become numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Encoding {
    /// One number: (value − center) / scale.
    Numeric {
        /// What is subtracted.
        center: f64,
        /// What the difference is divided by; positive.
        scale: f64,
        /// Replaces a missing value, in units of the raw column. `None` makes it an error.
        fill: Option<f64>,
    },
    /// One number per level: 1 for the level of the row, 0 for the others.
    Categorical {
        /// The values that may occur.
        levels: Vec<String>,
        /// Replaces a missing value. `None` makes it an error.
        fill: Option<String>,
        /// What to do with a value that is not a level.
        unknown: Unknown,
    },
}

/// What to do with a value that is not a level of its categorical feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Refuse the row.
    #[default]
    Error,
    /// Encode it as no level: every number of the feature is 0. With an intercept, this is the baseline that all levels
    /// are compared with, so it needs no number of its own.
    Other,
}

choices! { Unknown:
    Error => "error", "Refuse the row";
    Other => "other", "Encode it as none of the levels";
}

impl Unknown {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Feature {
    /// Number of encoded numbers.
    pub fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Numeric { .. } => 1,
            Encoding::Categorical { levels, .. } => levels.len(),
        }
    }

    /// Their names: the column, or `column=level` for each level.
    pub fn encoded_names(&self) -> Vec<String> {
        match &self.encoding {
            Encoding::Numeric { .. } => vec![self.column.clone()],
            Encoding::Categorical { levels, .. } => {
                levels.iter().map(|level| format!("{}={level}", self.column)).collect()
            }
        }
    }
}

/// A feature in a file. An enum tagged by `kind` would lose the line of a syntax error.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    column: String,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    center: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fill: Option<Fill>,
    #[serde(default, skip_serializing_if = "Unknown::is_default")]
    unknown: Unknown,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Numeric,
    Categorical,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or a level")]
enum Fill {
    Number(f64),
    Level(String),
}

impl TryFrom<Entry> for Feature {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, String> {
        let column = entry.column;
        let kind = match entry.kind {
            Kind::Numeric => "numeric",
            Kind::Categorical => "categorical",
        };
        let needs = |key: &str| format!("the {kind} feature `{column}` needs `{key}`");
        let cannot_have = |key: &str| format!("the {kind} feature `{column}` cannot have `{key}`");
        let wrong_fill = |expected: &str| {
            format!("the `fill` of the {kind} feature `{column}` must be {expected}")
        };
        let encoding = match entry.kind {
            Kind::Numeric => {
                if entry.levels.is_some() {
                    return Err(cannot_have("levels"));
                }
                if entry.unknown != Unknown::Error {
                    return Err(cannot_have("unknown"));
                }
                Encoding::Numeric {
                    center: entry.center.ok_or_else(|| needs("center"))?,
                    scale: entry.scale.ok_or_else(|| needs("scale"))?,
                    fill: match entry.fill {
                        None => None,
                        Some(Fill::Number(number)) => Some(number),
                        Some(Fill::Level(_)) => return Err(wrong_fill("a number")),
                    },
                }
            }
            Kind::Categorical => {
                if entry.center.is_some() {
                    return Err(cannot_have("center"));
                }
                if entry.scale.is_some() {
                    return Err(cannot_have("scale"));
                }
                Encoding::Categorical {
                    levels: entry.levels.ok_or_else(|| needs("levels"))?,
                    fill: match entry.fill {
                        None => None,
                        Some(Fill::Level(level)) => Some(level),
                        Some(Fill::Number(_)) => {
                            return Err(wrong_fill("one of its levels, in quotes"));
                        }
                    },
                    unknown: entry.unknown,
                }
            }
        };
        Ok(Self { column, encoding })
    }
}

impl From<Feature> for Entry {
    fn from(feature: Feature) -> Self {
        let column = feature.column;
        match feature.encoding {
            Encoding::Numeric { center, scale, fill } => Self {
                column,
                kind: Kind::Numeric,
                center: Some(center),
                scale: Some(scale),
                levels: None,
                fill: fill.map(Fill::Number),
                unknown: Unknown::default(),
            },
            Encoding::Categorical { levels, fill, unknown } => Self {
                column,
                kind: Kind::Categorical,
                center: None,
                scale: None,
                levels: Some(levels),
                fill: fill.map(Fill::Level),
                unknown,
            },
        }
    }
}
