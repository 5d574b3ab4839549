//! Proposes a schema for a table, to be reviewed, corrected and agreed on.

use super::fill::Fill;
use super::label_counts;
use super::statistics::{MAX_LEVELS, Statistics};
use super::survey::{Roles, Survey};
use super::{Encoding, Feature, Label, Schema, Sensitive, Unknown, VERSION};
use crate::error::{Error, TableProblem, list};
use crate::table::Table;
use crate::value::Value;

/// What cannot be inferred from tables.
#[derive(Debug, Clone, Default)]
pub struct InferOptions {
    /// Label column and its positive value.
    pub label: (String, String),
    /// Every label except the positive one counts as negative. If not set, a label has two values.
    pub label_rest_negative: bool,
    /// Sensitive columns, each with the value of the reference group. Without a value, the most frequent one.
    pub sensitive: Vec<(String, Option<String>)>,
    /// Compare the reference group with all others together, as two groups.
    pub two_groups: bool,
    /// The model may not use the group.
    pub blind: bool,
    /// Columns to leave out, listed under the schema's `ignore`.
    pub drop: Vec<String>,
    /// Whether the schema has an intercept.
    pub intercept: bool,
    /// Columns that are categorical although they hold numbers.
    pub categorical: Vec<String>,
    /// Columns in which text is an error, not a level, and whose integers are numbers, not codes.
    pub numeric: Vec<String>,
    /// Whether columns of a few integers are codes, and so categorical.
    pub codes: bool,
    /// What replaces missing values. Without a rule for its kind, a feature has no `fill`.
    pub fill: Vec<Fill>,
    /// What categorical features do with unknown levels. `None`: they count as other if descriptions withhold levels of
    /// the column, and are refused otherwise.
    pub unknown: Option<Unknown>,
}

/// Columns with more distinct integers than this hold numbers, not codes.
pub(super) const MAX_CODES: usize = 12;
/// A column holds codes only if each of them occurs this often on average: in a short table, any number is rare.
const ROWS_PER_CODE: u64 = 20;

impl InferOptions {
    pub(super) fn roles(&self) -> Roles<'_> {
        Roles {
            label: (&self.label.0, Some(&self.label.1)),
            sensitive: &self.sensitive,
            drop: &self.drop,
            categorical: &self.categorical,
            numeric: &self.numeric,
        }
    }
}

/// A proposed schema and notes on it.
#[derive(Debug, Clone)]
pub struct Inferred {
    /// The proposal.
    pub schema: Schema,
    /// What to review before agreeing to it.
    pub notes: Vec<String>,
}

/// Proposes a schema. Columns of numbers become numeric, centred by the mean and scaled by the population standard
/// deviation, except that columns of only 0 and 1 are kept. Other columns become categorical, as do columns of at most
/// 12 integers if [`InferOptions::codes`] is set. Constant columns are left out.
pub fn infer(table: Table, options: &InferOptions) -> Result<Inferred, Error> {
    infer_union(vec![table], options)
}

/// Like [`infer`], for the rows of several tables together. All of them have the same columns, in any order.
pub fn infer_union(tables: Vec<Table>, options: &InferOptions) -> Result<Inferred, Error> {
    propose(&Survey::of_tables(tables, &options.roles())?, options)
}

/// Proposes a schema for what was found in tables or descriptions.
pub(super) fn propose(survey: &Survey, options: &InferOptions) -> Result<Inferred, Error> {
    let mut proposal = Proposal {
        survey,
        roles: options.roles(),
        options,
        features: Vec::new(),
        ignore: options.drop.clone(),
        notes: Vec::new(),
    };
    for (column, statistics) in survey.columns.iter().zip(&survey.statistics) {
        proposal.add(column, statistics)?;
    }
    let sensitive = survey.groups.propose(options, &mut proposal.notes);
    let sensitive = sensitive.map_err(|problem| Error::in_document(&survey.source, problem))?;
    let label = label_counts::propose(survey.labels.values(), &survey.source, options)?;
    proposal.finish(label, sensitive)
}

struct Proposal<'a> {
    survey: &'a Survey,
    roles: Roles<'a>,
    options: &'a InferOptions,
    features: Vec<Feature>,
    ignore: Vec<String>,
    notes: Vec<String>,
}

impl Proposal<'_> {
    fn add(&mut self, column: &str, statistics: &Statistics) -> Result<(), Error> {
        let (label, positive) = &self.options.label;
        if column == label {
            self.note_many_labels(column, positive, statistics);
            return self.add_role(column, "label", statistics);
        }
        if self.roles.is_sensitive(column) {
            return self.add_role(column, "sensitive", statistics);
        }
        if statistics.distinct.is_constant() {
            self.ignore(column, statistics);
            return Ok(());
        }
        let encoding = if self.is_numeric(column, statistics) {
            self.numeric(column, statistics)
        } else {
            self.categorical(column, statistics)?
        };
        self.note_missing(column, &encoding, statistics.n_missing);
        self.features.push(Feature { column: column.to_string(), encoding });
        Ok(())
    }

    fn note_missing(&mut self, column: &str, encoding: &Encoding, n_missing: u64) {
        let (has_fill, rule) = match encoding {
            Encoding::Numeric { fill, .. } => (fill.is_some(), "mean"),
            Encoding::Categorical { fill, .. } => (fill.is_some(), "mode"),
        };
        if n_missing > 0 && !has_fill {
            self.notes.push(format!(
                "column `{column}` has missing values ({n_missing}) and no `fill` in the schema, so rows without a value will be refused. To fill them, use --fill {rule}"
            ));
        }
    }

    fn is_numeric(&self, column: &str, statistics: &Statistics) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| name == column);
        if is_named(self.roles.categorical) || statistics.has_text {
            return false;
        }
        is_named(self.roles.numeric) || !self.options.codes || !holds_codes(statistics)
    }

    fn numeric(&mut self, column: &str, statistics: &Statistics) -> Encoding {
        let values = statistics.distinct.sorted();
        let is_binary = values.iter().map(|(value, _)| value).eq(&[0.0, 1.0].map(Value::Number));
        let (center, scale) = if is_binary && !statistics.distinct.is_more() {
            (0.0, 1.0)
        } else {
            (statistics.mean, statistics.deviation())
        };
        let fill = self.options.fill.contains(&Fill::Mean).then_some(statistics.mean);
        if statistics.n_withheld > 0 {
            self.notes.push(format!(
                "center and scale of column `{column}` leave out the values that descriptions withhold ({} rows)",
                statistics.n_withheld
            ));
        }
        Encoding::Numeric { center, scale, fill }
    }

    fn categorical(&mut self, column: &str, statistics: &Statistics) -> Result<Encoding, Error> {
        if statistics.distinct.is_more() {
            return Err(self.survey.too_many_levels(column));
        }
        if let (Some(place), 1..) = (&statistics.first_text, statistics.n_numbers) {
            self.notes.push(format!(
                "column `{column}` is categorical although some of its values are numbers: row {} has `{}`, which is not. To refuse such values, use --numeric {column}",
                place.row, place.text
            ));
        }
        let withheld = statistics.n_withheld;
        let unasked = if withheld > 0 { Unknown::Other } else { Unknown::Error };
        let unknown = self.options.unknown.unwrap_or(unasked);
        if withheld > 0 {
            let become_of_them = match unknown {
                Unknown::Other => "count as other",
                Unknown::Error => "will be refused, because of --unknown error",
            };
            self.notes.push(format!(
                "column `{column}`: descriptions withhold rare levels ({withheld} rows). Those that are not among its levels {become_of_them}"
            ));
        }
        if !statistics.has_text && !self.roles.categorical.iter().any(|c| c == column) {
            let others = match unknown {
                Unknown::Error => "tables with other integers will be refused",
                Unknown::Other => "other integers count as other",
            };
            let known = if withheld > 0 { " besides those withheld" } else { "" };
            self.notes.push(format!(
                "column `{column}` has only {} distinct integers{known}, so it is categorical, and {others}. If they are amounts, use --numeric {column}",
                statistics.distinct.len()
            ));
        }
        let is_filled = self.options.fill.contains(&Fill::Mode);
        let fill = is_filled.then(|| statistics.mode()).flatten().map(|value| value.to_string());
        Ok(Encoding::Categorical { levels: statistics.distinct.names(), fill, unknown })
    }

    fn add_role(&mut self, column: &str, role: &str, statistics: &Statistics) -> Result<(), Error> {
        let required = self.roles.required_value(column);
        if let Some(value) = required.filter(|_| !statistics.required_occurs) {
            let problem = TableProblem::new(format!(
                "the value `{value}` never occurs. The column has {}. Choose one of them.",
                list(&statistics.distinct.names())
            ));
            return Err(problem.in_column(&self.survey.source, column));
        }
        if let ([value], false) = (&statistics.distinct.names()[..], statistics.n_withheld > 0) {
            self.notes.push(format!(
                "{role} column `{column}` is always `{value}`, so nothing can be learned from this table alone. Infer the schema from all clients' tables, or check the column"
            ));
        }
        if statistics.n_missing > 0 {
            self.notes.push(format!(
                "{role} column `{column}` has missing values ({}), which cannot be filled, so these rows will be refused",
                statistics.n_missing
            ));
        }
        Ok(())
    }

    fn note_many_labels(&mut self, column: &str, value: &str, statistics: &Statistics) {
        if statistics.distinct.len() > 2 {
            let count = match statistics.distinct.is_more() {
                true => format!("more than {MAX_LEVELS}"),
                false => statistics.distinct.len().to_string(),
            };
            self.notes.push(format!(
                "label column `{column}` has {count} values: {}. Every value except `{value}` counts as negative",
                list(&statistics.distinct.names())
            ));
        }
    }

    fn ignore(&mut self, column: &str, statistics: &Statistics) {
        self.ignore.push(column.to_string());
        let names = statistics.distinct.names();
        let found = match (names.first(), statistics.n_withheld) {
            (Some(value), 0) => format!("is always `{value}`"),
            (Some(value), n) => {
                format!("is always `{value}` except in {n} rows that descriptions withhold")
            }
            (None, 0) => "has no values".to_owned(),
            (None, n) => format!("has only values that descriptions withhold ({n} rows)"),
        };
        self.notes.push(format!("column `{column}` {found}, so it is listed under `ignore`"));
    }

    fn finish(self, label: Label, sensitive: Sensitive) -> Result<Inferred, Error> {
        let schema = Schema {
            version: VERSION,
            intercept: self.options.intercept,
            ignore: self.ignore,
            label,
            sensitive,
            features: self.features,
        };
        schema.validate().map_err(|problem| Error::in_document(&self.survey.source, problem))?;
        Ok(Inferred { schema, notes: self.notes })
    }
}

/// Whether a column of numbers holds codes: a few integers, each of them often. Two values need no columns of their own.
fn holds_codes(statistics: &Statistics) -> bool {
    let n_levels = statistics.distinct.len();
    let is_integer =
        |(value, _): &(Value, u64)| matches!(value, Value::Number(n) if n.fract() == 0.0);
    (3..=MAX_CODES).contains(&n_levels)
        && !statistics.distinct.is_more()
        && statistics.n_numbers + statistics.n_withheld >= ROWS_PER_CODE * n_levels as u64
        && statistics.distinct.sorted().iter().all(is_integer)
}

#[cfg(test)]
mod tests;
