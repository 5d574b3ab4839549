//! Describes a client's table, so that a schema can be agreed on without its rows.

use super::description::{
    ColumnKind, DescribedColumn, Description, FORMAT, GroupRows, Moments, RoleColumn, VERSION,
    ValueRows,
};
use super::infer::MAX_CODES;
use super::statistics::{MAX_LEVELS, Statistics};
use super::survey::{Roles, Survey};
use crate::error::{Error, TableProblem, list};
use crate::table::Table;
use crate::value::Value;

/// Values in fewer rows than this are withheld by default. With so few rows, a value may point to a person.
pub const DEFAULT_MIN_ROWS: u64 = 5;

/// What a description needs to know about the columns.
#[derive(Debug, Clone, Default)]
pub struct DescribeOptions {
    /// The client's name.
    pub client: String,
    /// Label column and, if the client knows it, its positive value.
    pub label: (String, Option<String>),
    /// Sensitive columns, each with the value of the reference group if the client names one.
    pub sensitive: Vec<(String, Option<String>)>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns that are categorical although they hold numbers.
    pub categorical: Vec<String>,
    /// Columns that are numeric although they hold few numbers. Their values are not listed.
    pub numeric: Vec<String>,
    /// Values in fewer rows than this are withheld.
    pub min_rows: u64,
}

impl DescribeOptions {
    fn roles(&self) -> Roles<'_> {
        Roles {
            label: (&self.label.0, self.label.1.as_deref()),
            sensitive: &self.sensitive,
            drop: &self.drop,
            categorical: &self.categorical,
            numeric: &self.numeric,
        }
    }
}

/// A description and notes on it, for the client's eyes only: they name what the description withholds.
#[derive(Debug, Clone)]
pub struct Described {
    /// The description.
    pub description: Description,
    /// What the client should know.
    pub notes: Vec<String>,
}

/// Describes a table: kinds, levels with counts, moments, missing values, labels and groups, and no rows. Values of
/// numeric columns are listed only if there are at most 12, because only those can be codes.
pub fn describe(table: Table, options: &DescribeOptions) -> Result<Described, Error> {
    if options.min_rows == 0 {
        return Err(Error::Invalid("--min-rows must be at least 1.".to_owned()));
    }
    let roles = options.roles();
    let survey = Survey::of_tables(vec![table], &roles)?;
    let mut describer = Describer { survey: &survey, roles, options, notes: Vec::new() };
    let columns = survey.columns.iter().zip(&survey.statistics);
    let columns = columns
        .map(|(column, statistics)| describer.column(column, statistics))
        .collect::<Result<_, _>>()?;
    let (groups, withheld_groups) = describer.groups()?;
    let role = |(column, value): (&str, Option<&str>)| RoleColumn {
        column: column.to_owned(),
        value: value.map(|value| value.trim().to_owned()),
    };
    let named = |(column, value): &(String, Option<String>)| role((column, value.as_deref()));
    let description = Description {
        format: FORMAT.to_owned(),
        version: VERSION,
        client: options.client.clone(),
        rows: survey.n_rows,
        min_rows: options.min_rows,
        rule: describe_rule(options.min_rows),
        label: role(roles.label),
        sensitive: options.sensitive.iter().map(named).collect(),
        dropped: options.drop.clone(),
        columns,
        groups,
        withheld_groups,
    };
    Ok(Described { description, notes: describer.notes })
}

/// What a description withholds, in words.
fn describe_rule(min_rows: u64) -> String {
    match min_rows {
        1 => "Nothing is withheld: every level is listed, however few rows have it.".to_owned(),
        n => format!(
            "Levels, labels and groups in fewer than {n} rows are withheld: they are not named, their rows are only counted, \
             and means and variances leave them out. Means and variances of fewer than {n} numbers are withheld too."
        ),
    }
}

struct Describer<'a> {
    survey: &'a Survey,
    roles: Roles<'a>,
    options: &'a DescribeOptions,
    notes: Vec<String>,
}

impl Describer<'_> {
    fn column(&mut self, column: &str, statistics: &Statistics) -> Result<DescribedColumn, Error> {
        self.note_absent(column, statistics);
        let is_named = |names: &[String]| names.iter().any(|name| name == column);
        let described = DescribedColumn {
            column: column.to_owned(),
            kind: self.kind(column, statistics),
            declared: is_named(&self.options.categorical) || is_named(&self.options.numeric),
            missing: statistics.n_missing,
            withheld: 0,
            moments: None,
            values: None,
        };
        match described.kind {
            ColumnKind::Sensitive => Ok(described),
            ColumnKind::Label if statistics.distinct.is_more() => {
                let problem = TableProblem::new(format!(
                    "the label has more than {MAX_LEVELS} values. Add a column with two values, and name that."
                ));
                Err(problem.in_column(&self.survey.source, column))
            }
            ColumnKind::Categorical if statistics.distinct.is_more() => {
                Err(self.survey.too_many_levels(column))
            }
            ColumnKind::Numeric if described.declared || statistics.distinct.len() > MAX_CODES => {
                Ok(self.unlisted(described, statistics))
            }
            _ => Ok(self.listed(described, statistics)),
        }
    }

    fn kind(&self, column: &str, statistics: &Statistics) -> ColumnKind {
        let is_categorical =
            statistics.has_text || self.options.categorical.iter().any(|name| name == column);
        match self.roles.is_feature(column) {
            false if self.roles.is_sensitive(column) => ColumnKind::Sensitive,
            false => ColumnKind::Label,
            true if is_categorical => ColumnKind::Categorical,
            true => ColumnKind::Numeric,
        }
    }

    /// Moments alone.
    fn unlisted(&mut self, column: DescribedColumn, statistics: &Statistics) -> DescribedColumn {
        let count = statistics.n_numbers;
        if count == 0 {
            return DescribedColumn { values: Some(Vec::new()), ..column };
        }
        if count < self.options.min_rows {
            self.notes.push(format!(
                "column `{}` has only {count} numbers, so their mean and variance are withheld",
                column.column
            ));
            return DescribedColumn { withheld: count, values: Some(Vec::new()), ..column };
        }
        let (mean, variance) = (statistics.mean, statistics.variance());
        DescribedColumn { moments: Some(Moments { count, mean, variance }), ..column }
    }

    /// Values that are frequent enough, and the moments of those.
    fn listed(&mut self, column: DescribedColumn, statistics: &Statistics) -> DescribedColumn {
        let is_frequent = |(_, rows): &(Value, u64)| *rows >= self.options.min_rows;
        let (frequent, rare): (Vec<_>, Vec<_>) =
            statistics.distinct.sorted().into_iter().partition(is_frequent);
        let withheld: u64 = rare.iter().map(|(_, rows)| rows).sum();
        if withheld > 0 {
            let names: Vec<String> = rare.iter().map(|(value, _)| value.to_string()).collect();
            self.note_withheld(&format!("column `{}`", column.column), &names, withheld);
        }
        let is_numeric = column.kind == ColumnKind::Numeric && !frequent.is_empty();
        let moments = is_numeric.then(|| match withheld {
            0 => Moments {
                count: statistics.n_numbers,
                mean: statistics.mean,
                variance: statistics.variance(),
            },
            _ => moments_of(&frequent),
        });
        let values = frequent
            .into_iter()
            .map(|(value, rows)| ValueRows { value: value.to_string(), rows })
            .collect();
        DescribedColumn { withheld, moments, values: Some(values), ..column }
    }

    fn groups(&mut self) -> Result<(Vec<GroupRows>, u64), Error> {
        let counts = &self.survey.groups;
        let too_many = |problem| Error::in_document(&self.survey.source, problem);
        counts.check_number().map_err(too_many)?;
        let groups =
            counts.counts().map(|(values, rows)| GroupRows { values: values.clone(), rows });
        let (frequent, rare): (Vec<_>, Vec<_>) =
            groups.partition(|group| group.rows >= self.options.min_rows);
        let withheld = rare.iter().map(|group| group.rows).sum();
        if withheld > 0 {
            let names: Vec<String> = rare.iter().map(|group| group.values.join(", ")).collect();
            self.note_withheld("groups", &names, withheld);
        }
        Ok((frequent, withheld))
    }

    fn note_withheld(&mut self, what: &str, names: &[String], n_rows: u64) {
        self.notes.push(format!(
            "{what}: withheld because fewer than {} rows have each of them ({n_rows} in all): {}",
            self.options.min_rows,
            list(names)
        ));
    }

    /// A client may have no row of the positive class or the reference group, but a misspelled value is more likely.
    fn note_absent(&mut self, column: &str, statistics: &Statistics) {
        let required = self.roles.required_value(column);
        if let Some(value) = required.filter(|_| !statistics.required_occurs) {
            self.notes.push(format!(
                "column `{column}`: the value `{value}` never occurs in this table, which has {}. Check the spelling",
                list(&statistics.distinct.names())
            ));
        }
    }
}

fn moments_of(values: &[(Value, u64)]) -> Moments {
    let mut all = Statistics::new(None);
    for (value, rows) in values {
        if let Value::Number(number) = value {
            all.add_moments(*rows, *number, 0.0);
        }
    }
    Moments { count: all.n_numbers, mean: all.mean, variance: all.variance() }
}

#[cfg(test)]
mod tests;
