//! Merges the descriptions of several clients' tables into the schema of all their rows.
//!
//! The schema is the one that [`infer_union`](super::infer_union) would propose for the tables themselves, except where a
//! description withholds values. The order of the descriptions does not matter: they are sorted by client.

mod agreement;
mod kinds;

pub use agreement::{AgreedRoles, agree_on_roles};

use std::path::PathBuf;

use super::description::{ColumnKind, DescribedColumn, Description};
use super::group_counts::GroupCounts;
use super::infer::{InferOptions, Inferred, propose};
use super::label_counts::LabelCounts;
use super::statistics::Statistics;
use super::survey::Survey;
use crate::distinct::Distinct;
use crate::error::{Error, list};
use crate::value::Value;

/// Merges descriptions. The label and the sensitive columns are those on which the clients
/// [agree](agree_on_roles).
pub fn merge(descriptions: &[Description], options: &InferOptions) -> Result<Inferred, Error> {
    let clients = agreement::sorted(descriptions)?;
    let drop = agreement::dropped(&clients, options)?;
    let columns = agreement::common_columns(&clients, options)?;
    let mut options = InferOptions { drop, ..options.clone() };
    kinds::check_names(&columns, &options)?;
    let mut statistics = Vec::new();
    for column in &columns {
        let described = described(&clients, column);
        if !described.iter().any(|(_, found)| found.kind.is_role()) {
            kinds::resolve(column, &described, &mut options)?;
        }
        statistics.push(combine(column, &described, &clients, &options));
    }
    let notes = check_labels(&clients, &options)?;
    let mut groups = GroupCounts::new(&columns, &options.sensitive);
    for client in &clients {
        client.groups.iter().for_each(|group| groups.add_count(group.values.clone(), group.rows));
        groups.add_withheld(client.withheld_groups);
    }
    let mut labels = LabelCounts::new(&columns, &options.label.0);
    for (_, found) in described(&clients, &options.label.0) {
        for level in found.values.iter().flatten() {
            labels.add_count(Value::of_text(&level.value).to_string(), level.rows);
        }
    }
    let n_rows = clients.iter().map(|client| client.rows).sum();
    let source = PathBuf::from("the descriptions");
    let mut merged =
        propose(&Survey { source, columns, statistics, labels, groups, n_rows }, &options)?;
    merged.notes.splice(0..0, notes);
    Ok(merged)
}

/// A client's name and what it says of a column.
type Of<'a> = (&'a str, &'a DescribedColumn);

fn described<'a>(clients: &[&'a Description], column: &str) -> Vec<Of<'a>> {
    let of = |client: &&'a Description| Some((&*client.client, client.column(column)?));
    clients.iter().filter_map(of).collect()
}

/// The statistics of a column over all clients.
fn combine(
    column: &str,
    described: &[Of<'_>],
    clients: &[&Description],
    options: &InferOptions,
) -> Statistics {
    let mut all = Statistics::new(options.roles().required_value(column));
    if described.iter().any(|(_, found)| found.values.is_none()) {
        all.distinct = Distinct::unlisted();
    }
    for (_, found) in described {
        all.n_missing += found.missing;
        all.n_withheld += found.withheld;
        all.has_text |= found.kind == ColumnKind::Categorical;
        if let Some(moments) = found.moments {
            all.add_moments(moments.count, moments.mean, moments.variance);
        }
        for level in found.values.iter().flatten() {
            all.add_level(Value::of_text(&level.value), level.rows);
        }
    }
    if let Some(at) = options.sensitive.iter().position(|(name, _)| name == column) {
        all.distinct = Distinct::new(usize::MAX);
        for client in clients {
            let levels = client.groups.iter().map(|group| (&group.values[at], group.rows));
            levels.for_each(|(value, rows)| all.add_level(Value::of_text(value), rows));
            all.n_withheld += client.withheld_groups;
        }
    }
    // The value may be among those withheld.
    all.required_occurs |= all.n_withheld > 0;
    all
}

/// Refuses label values that differ between clients, such as 0 and 1 here but no and yes there: all but one of them
/// would count as negative. Returns notes.
fn check_labels(clients: &[&Description], options: &InferOptions) -> Result<Vec<String>, Error> {
    let (column, positive) = &options.label;
    let labels = described(clients, column);
    let names = |values: &mut dyn Iterator<Item = &Of<'_>>| {
        let mut distinct = Distinct::new(usize::MAX);
        for level in values.flat_map(|(_, found)| found.values.iter().flatten()) {
            distinct.add_count(Value::of_text(&level.value), level.rows);
        }
        distinct.names()
    };
    let all = names(&mut labels.iter());
    let has_many = |label: &Of<'_>| names(&mut [*label].iter()).len() > 2;
    let is_confirmed = options.label_rest_negative;
    if all.len() > 2 && !is_confirmed && !labels.iter().any(has_many) {
        let of_client = |label: &Of<'_>| {
            format!("client `{}` has {}", label.0, list(&names(&mut [*label].iter())))
        };
        let found: Vec<String> = labels.iter().map(of_client).collect();
        return Err(Error::Invalid(format!(
            "label column `{column}`: the clients have different values: {}. All but `{positive}` would count as negative. \
             Spell the two values the same in all tables and describe those again, or confirm this with --label-rest-negative.",
            found.join("; ")
        )));
    }
    let is_listed = all.contains(&Value::of_text(positive).to_string());
    let note = format!(
        "no description lists the positive value `{positive}` of label column `{column}`, so its rows are withheld, or it is misspelled"
    );
    Ok(if is_listed { Vec::new() } else { vec![note] })
}

#[cfg(test)]
mod tests;
