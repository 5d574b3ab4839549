//! Proposes a schema for a table, to be reviewed, corrected and agreed on.

mod number_cells;

use std::collections::HashSet;
use std::path::PathBuf;

use super::group_counts::GroupCounts;
use super::label_counts::{self, LabelCounts};
use super::statistics::{MAX_LEVELS, Statistics};
use super::{Encoding, Feature, Label, Schema, Sensitive, VERSION};
use crate::error::{Error, Purpose, TableProblem, list};
use crate::table::Table;
use crate::value::Value;
use number_cells::NumberCells;

/// What cannot be inferred from the table.
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
}

/// Columns with more distinct integers than this hold numbers, not codes.
const MAX_CODES: usize = 12;
/// A column holds codes only if each of them occurs this often on average: in a short table, any number is rare.
const ROWS_PER_CODE: u64 = 20;

impl InferOptions {
    /// The value that must occur in a label or sensitive column.
    fn required_value(&self, column: &str) -> Option<&str> {
        if column == self.label.0 {
            return Some(&self.label.1);
        }
        self.sensitive.iter().find(|(name, _)| name == column)?.1.as_deref()
    }

    fn is_sensitive(&self, column: &str) -> bool {
        self.sensitive.iter().any(|(name, _)| name == column)
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
    check_options(&table, options)?;
    let file = table.file().to_path_buf();
    let chosen: Vec<usize> = (0..table.columns().len())
        .filter(|&i| !options.drop.contains(&table.columns()[i]))
        .collect();
    let columns: Vec<String> = chosen.iter().map(|&i| table.columns()[i].clone()).collect();
    let mut statistics: Vec<Statistics> =
        columns.iter().map(|column| Statistics::new(options.required_value(column))).collect();
    let mut groups = GroupCounts::new(&columns, options);
    let mut labels = LabelCounts::new(&columns, options);
    let mut numbers = NumberCells::new(&columns, options);
    let n_rows = table.visit(&chosen, |row, cells| {
        for (statistics, cell) in statistics.iter_mut().zip(cells) {
            statistics.add(row, *cell);
        }
        groups.add(cells);
        labels.add(cells);
        numbers.add(row, cells);
        Ok(())
    })?;
    if n_rows == 0 {
        return Err(TableProblem::no_rows(Purpose::Data).in_file(&file));
    }
    numbers.none_in(&file)?;
    let mut proposal = Proposal {
        file,
        options,
        features: Vec::new(),
        ignore: options.drop.clone(),
        notes: Vec::new(),
    };
    for (column, statistics) in columns.iter().zip(&statistics) {
        proposal.add(column, statistics)?;
    }
    let sensitive = groups.propose(options, &mut proposal.notes);
    let sensitive = sensitive.map_err(|problem| Error::in_document(&proposal.file, problem))?;
    let label = label_counts::propose(labels.values(), &proposal.file, options)?;
    proposal.finish(label, sensitive)
}

struct Proposal<'a> {
    file: PathBuf,
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
        if self.options.is_sensitive(column) {
            return self.add_role(column, "sensitive", statistics);
        }
        if statistics.distinct.len() < 2 {
            self.ignore(column, statistics);
            return Ok(());
        }
        let encoding = if self.is_numeric(column, statistics)? {
            numeric(statistics)
        } else {
            self.categorical(column, statistics)?
        };
        if statistics.n_missing > 0 {
            self.notes.push(format!(
                "column `{column}` has missing values ({}) and no `fill` in the schema, so rows without a value will be refused",
                statistics.n_missing
            ));
        }
        self.features.push(Feature { column: column.to_string(), encoding });
        Ok(())
    }

    fn is_numeric(&self, column: &str, statistics: &Statistics) -> Result<bool, Error> {
        if self.options.categorical.iter().any(|c| c == column) {
            return Ok(false);
        }
        let forced = self.options.numeric.iter().any(|c| c == column);
        match (&statistics.first_text, &statistics.first_infinite) {
            (Some(_), _) => Ok(false),
            (None, Some((row, value))) => {
                Err(TableProblem::not_finite(value).in_cell(&self.file, *row, column))
            }
            (None, None) if forced || !self.options.codes => Ok(true),
            (None, None) => Ok(!holds_codes(statistics)),
        }
    }

    fn categorical(&mut self, column: &str, statistics: &Statistics) -> Result<Encoding, Error> {
        if statistics.distinct.is_more() {
            let problem = TableProblem::new(format!(
                "the column has more than {MAX_LEVELS} distinct values, too many for a categorical feature. Leave it out with --drop {column}, or use --numeric {column} if it holds numbers."
            ));
            return Err(problem.in_column(&self.file, column));
        }
        if let (Some((row, value)), 1..) = (&statistics.first_text, statistics.n_numbers) {
            self.notes.push(format!(
                "column `{column}` is categorical although some of its values are numbers: row {row} has `{value}`, which is not. To refuse such values, use --numeric {column}"
            ));
        }
        if statistics.first_text.is_none() && !self.options.categorical.iter().any(|c| c == column)
        {
            self.notes.push(format!(
                "column `{column}` has only {} distinct integers, so it is categorical, and tables with other integers will be refused. If they are amounts, use --numeric {column}",
                statistics.distinct.len()
            ));
        }
        Ok(Encoding::Categorical { levels: statistics.distinct.names(), fill: None })
    }

    fn add_role(&mut self, column: &str, role: &str, statistics: &Statistics) -> Result<(), Error> {
        let required = self.options.required_value(column);
        if let Some(value) = required.filter(|_| !statistics.required_occurs) {
            let problem = TableProblem::new(format!(
                "the value `{value}` never occurs. The column has {}. Choose one of them.",
                list(&statistics.distinct.names())
            ));
            return Err(problem.in_column(&self.file, column));
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
        self.notes.push(match statistics.distinct.names().first() {
            Some(value) => {
                format!("column `{column}` is always `{value}`, so it is listed under `ignore`")
            }
            None => format!("column `{column}` has no values, so it is listed under `ignore`"),
        });
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
        schema.validate().map_err(|problem| Error::in_document(&self.file, problem))?;
        Ok(Inferred { schema, notes: self.notes })
    }
}

/// Whether a column of numbers holds codes: a few integers, each of them often. Two values need no columns of their own.
fn holds_codes(statistics: &Statistics) -> bool {
    let n_levels = statistics.distinct.len();
    let is_integer = |value: &Value| matches!(value, Value::Number(n) if n.fract() == 0.0);
    (3..=MAX_CODES).contains(&n_levels)
        && !statistics.distinct.is_more()
        && statistics.n_numbers >= ROWS_PER_CODE * n_levels as u64
        && statistics.distinct.sorted().iter().all(is_integer)
}

fn numeric(statistics: &Statistics) -> Encoding {
    let binary = statistics.distinct.sorted() == [Value::Number(0.0), Value::Number(1.0)];
    let (center, scale) = if binary && !statistics.distinct.is_more() {
        (0.0, 1.0)
    } else {
        (statistics.mean, statistics.deviation())
    };
    Encoding::Numeric { center, scale, fill: None }
}

/// Every named column must exist and have one role.
fn check_options(table: &Table, options: &InferOptions) -> Result<(), Error> {
    let mut seen = HashSet::new();
    if options.sensitive.is_empty() {
        return Err(Error::Invalid("name at least one sensitive column.".to_owned()));
    }
    for column in [&options.label.0]
        .into_iter()
        .chain(options.sensitive.iter().map(|(column, _)| column))
        .chain(&options.drop)
        .chain(&options.categorical)
        .chain(&options.numeric)
    {
        table.position(column)?;
        if !seen.insert(column) {
            return Err(Error::Invalid(format!(
                "column `{column}` is named twice among the label, sensitive, dropped, categorical and numeric columns. Name it once."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
