//! Decides the kind of a column from what all clients say of it.

use super::Of;
use crate::error::{Error, list};
use crate::schema::description::{ColumnKind, DescribedColumn, ValueRows};
use crate::schema::infer::InferOptions;
use crate::value::finite_number;

/// Columns that the user calls categorical or numeric must be features, and be named once.
pub(super) fn check_names(columns: &[String], options: &InferOptions) -> Result<(), Error> {
    for (i, column) in options.categorical.iter().chain(&options.numeric).enumerate() {
        let mut earlier = options.categorical.iter().chain(&options.numeric).take(i);
        let roles = options.roles();
        if !columns.contains(column) || !roles.is_feature(column) {
            return Err(Error::Invalid(format!(
                "no description has a feature `{column}`. They have {}.",
                list(columns)
            )));
        }
        if earlier.any(|other| other == column) {
            return Err(Error::Invalid(format!(
                "column `{column}` is named twice among the categorical and numeric columns. Name it once."
            )));
        }
    }
    Ok(())
}

/// Adds the column to the categorical or numeric ones in `options` if that is not left to its values.
pub(super) fn resolve(
    column: &str,
    described: &[Of<'_>],
    options: &mut InferOptions,
) -> Result<(), Error> {
    let (categorical, numeric) = (ColumnKind::Categorical, ColumnKind::Numeric);
    let is_named = |names: &[String]| names.iter().any(|name| name == column);
    let declared =
        |kind: ColumnKind| clients(described, |found| found.declared && found.kind == kind);
    let kind = if is_named(&options.categorical) {
        Some(categorical)
    } else if is_named(&options.numeric) {
        Some(numeric)
    } else {
        match (&declared(categorical)[..], &declared(numeric)[..]) {
            ([], []) => None,
            (_, []) => Some(categorical),
            ([], _) => Some(numeric),
            (levels, numbers) => {
                return Err(Error::Invalid(format!(
                    "column `{column}`: categorical according to {}, numeric according to {}. Decide with --categorical {column} or --numeric {column}.",
                    list(levels),
                    list(numbers)
                )));
            }
        }
    };
    match kind {
        Some(ColumnKind::Numeric) => {
            need_moments(column, described)?;
            add(&mut options.numeric, column);
        }
        Some(_) => {
            need_levels(column, described)?;
            add(&mut options.categorical, column);
        }
        None => refuse_mixture(column, described)?,
    }
    Ok(())
}

/// A column that is text for some clients and a number for others was probably recorded in two ways, unless some client
/// has both.
fn refuse_mixture(column: &str, described: &[Of<'_>]) -> Result<(), Error> {
    let has_values = |found: &DescribedColumn| {
        found.withheld > 0 || found.values.as_ref().is_none_or(|values| !values.is_empty())
    };
    let of = |kind| clients(described, |found| found.kind == kind && has_values(found));
    let (text, numbers) = (of(ColumnKind::Categorical), of(ColumnKind::Numeric));
    if text.is_empty() || numbers.is_empty() {
        return Ok(());
    }
    let is_number = |level: &ValueRows| finite_number(&level.value).is_some();
    let has_numbers = |found: &DescribedColumn| {
        found.kind == ColumnKind::Categorical && found.values.iter().flatten().any(is_number)
    };
    if described.iter().any(|(_, found)| has_numbers(found)) {
        return need_levels(column, described);
    }
    Err(Error::Invalid(format!(
        "column `{column}`: {} have text{}, {} have only numbers. Correct the tables and describe them again. If the \
         numbers are codes for levels, use --categorical {column}.",
        list(&text),
        example(described),
        list(&numbers)
    )))
}

/// A categorical column needs all clients' levels.
fn need_levels(column: &str, described: &[Of<'_>]) -> Result<(), Error> {
    match described.iter().find(|(_, found)| found.values.is_none()) {
        Some((client, _)) => Err(Error::Invalid(format!(
            "column `{column}`: client `{client}` has numbers and did not list them. To treat them as levels, describe its table again with --categorical {column}."
        ))),
        None => Ok(()),
    }
}

/// A numeric column needs all clients' moments.
fn need_moments(column: &str, described: &[Of<'_>]) -> Result<(), Error> {
    let lacks_moments = |(_, found): &&Of<'_>| {
        found.kind == ColumnKind::Categorical
            && (found.withheld > 0 || found.values.iter().flatten().next().is_some())
    };
    let Some((client, found)) = described.iter().find(lacks_moments) else { return Ok(()) };
    let text = example(&[(*client, *found)]);
    let problem = match text.is_empty() {
        true => "describes it as categorical, without mean and variance".to_owned(),
        false => format!("has text in it{text}"),
    };
    Err(Error::Invalid(format!(
        "column `{column}`: client `{client}` {problem}. To treat it as numeric, correct the table and describe it again with --numeric {column}."
    )))
}

/// ", such as `abc`", if a description lists a value that is not a number.
fn example(described: &[Of<'_>]) -> String {
    let values = described.iter().flat_map(|(_, found)| found.values.iter().flatten());
    let mut texts = values.filter(|level| finite_number(&level.value).is_none());
    texts.next().map_or(String::new(), |level| format!(", such as `{}`", level.value))
}

fn clients(described: &[Of<'_>], is: impl Fn(&DescribedColumn) -> bool) -> Vec<String> {
    described.iter().filter(|(_, found)| is(found)).map(|(client, _)| client.to_string()).collect()
}

fn add(names: &mut Vec<String>, column: &str) {
    if !names.iter().any(|name| name == column) {
        names.push(column.to_owned());
    }
}
