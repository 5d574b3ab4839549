//! Where descriptions must agree: clients, label, sensitive columns, and which columns there are.

use crate::error::{Error, list};
use crate::schema::description::{Description, RoleColumn};
use crate::schema::infer::InferOptions;
use crate::value::Value;

/// The label and the sensitive columns of all clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedRoles {
    /// Label column and positive value.
    pub label: (String, String),
    /// Sensitive columns, each with the value of the reference group if there is one.
    pub sensitive: Vec<(String, Option<String>)>,
}

/// The label and the sensitive columns that all descriptions name. `label` and `sensitive` decide values on which they do
/// not agree, or which they do not name.
pub fn agree_on_roles(
    descriptions: &[Description],
    label: Option<&(String, String)>,
    sensitive: &[(String, Option<String>)],
) -> Result<AgreedRoles, Error> {
    let clients = sorted(descriptions)?;
    let labels = |client: &Description| vec![client.label.column.clone()];
    let groups = |client: &Description| -> Vec<String> {
        client.sensitive.iter().map(|role| role.column.clone()).collect()
    };
    let given: Vec<String> = sensitive.iter().map(|(column, _)| column.clone()).collect();
    let label_column =
        same_columns(&clients, labels, label.map(|(c, _)| vec![c.clone()]), "label")?;
    let columns =
        same_columns(&clients, groups, (!given.is_empty()).then_some(given), "sensitive")?;

    let label_column = &label_column[0];
    let positive = match label {
        Some((_, value)) => Some(value.clone()),
        None => same_value(&clients, label_column, |client| &client.label, "label")?,
    };
    let positive = positive.ok_or_else(|| {
        Error::Invalid(format!(
            "no description names the positive value of label column `{label_column}`. Name it with --label {label_column}=VALUE."
        ))
    })?;
    let reference = |(at, column): (usize, &String)| {
        let value = match sensitive.get(at) {
            Some((_, Some(value))) => Some(value.clone()),
            _ => same_value(&clients, column, |client| &client.sensitive[at], "sensitive")?,
        };
        Ok((column.clone(), value))
    };
    Ok(AgreedRoles {
        label: (label_column.clone(), positive),
        sensitive: columns.iter().enumerate().map(reference).collect::<Result<_, Error>>()?,
    })
}

/// The columns that all clients name, which must be those that the user named, if any.
fn same_columns(
    clients: &[&Description],
    of: impl Fn(&Description) -> Vec<String>,
    given: Option<Vec<String>>,
    role: &str,
) -> Result<Vec<String>, Error> {
    let first = clients[0];
    let columns = of(first);
    if let Some(other) = clients.iter().find(|client| of(client) != columns) {
        return Err(Error::Invalid(format!(
            "the clients name different {role} columns: `{}` names {}, `{}` names {}. Describe the tables again with the same --{role}.",
            first.client,
            list(&columns),
            other.client,
            list(&of(other))
        )));
    }
    match given {
        Some(given) if given != columns => Err(Error::Invalid(format!(
            "--{role} names {}, but the descriptions name {}. Describe the tables again for other columns.",
            list(&given),
            list(&columns)
        ))),
        _ => Ok(columns),
    }
}

/// The value that all clients name, if they name one.
fn same_value<'a>(
    clients: &[&'a Description],
    column: &str,
    of: impl Fn(&'a Description) -> &'a RoleColumn,
    role: &str,
) -> Result<Option<String>, Error> {
    let mut named = clients.iter().filter_map(|client| Some((client, of(client).value.as_ref()?)));
    let Some((first, value)) = named.next() else { return Ok(None) };
    match named.find(|(_, other)| Value::of_text(other) != Value::of_text(value)) {
        Some((other, different)) => Err(Error::Invalid(format!(
            "{role} column `{column}`: client `{}` names the value `{value}`, but `{}` names `{different}`. Decide with --{role} {column}=VALUE, and see that all tables spell it the same.",
            first.client, other.client
        ))),
        None => Ok(Some(value.clone())),
    }
}

/// The descriptions by client, each client once.
pub(super) fn sorted(descriptions: &[Description]) -> Result<Vec<&Description>, Error> {
    let mut clients: Vec<&Description> = descriptions.iter().collect();
    clients.sort_by(|a, b| a.client.cmp(&b.client));
    if clients.is_empty() {
        return Err(Error::Invalid("there is no description to merge.".to_owned()));
    }
    match clients.windows(2).find(|pair| pair[0].client == pair[1].client) {
        Some(pair) => Err(Error::Invalid(format!(
            "two descriptions are of client `{}`. Merge one per client; `schema describe --client NAME` sets the name.",
            pair[0].client
        ))),
        None => Ok(clients),
    }
}

/// The columns that a client or the user leaves out.
pub(super) fn dropped(
    clients: &[&Description],
    options: &InferOptions,
) -> Result<Vec<String>, Error> {
    let mut dropped: Vec<String> = Vec::new();
    for column in clients.iter().flat_map(|client| &client.dropped).chain(&options.drop) {
        let is_known = |client: &&Description| {
            client.dropped.contains(column) || client.column(column).is_some()
        };
        if !clients.iter().any(is_known) {
            return Err(Error::Invalid(format!(
                "no description has the column `{column}` that --drop names. Check the spelling."
            )));
        }
        if !dropped.contains(column) {
            dropped.push(column.clone());
        }
    }
    let is_role = |column: &&String| {
        **column == options.label.0 || options.sensitive.iter().any(|(name, _)| name == *column)
    };
    match dropped.iter().find(is_role) {
        Some(column) => Err(Error::Invalid(format!(
            "column `{column}` is the label or a sensitive column, so it cannot be dropped."
        ))),
        None => Ok(dropped),
    }
}

/// The columns that all clients describe and the user does not drop, in the order of the first client.
pub(super) fn common_columns(
    clients: &[&Description],
    options: &InferOptions,
) -> Result<Vec<String>, Error> {
    let mut columns: Vec<String> = Vec::new();
    for described in clients.iter().flat_map(|client| &client.columns) {
        let column = &described.column;
        if !columns.contains(column) && !options.drop.contains(column) {
            columns.push(column.clone());
        }
    }
    for column in &columns {
        let (have, lack): (Vec<&Description>, Vec<&Description>) =
            clients.iter().partition(|client| client.column(column).is_some());
        let names = |clients: &[&Description]| {
            list(&clients.iter().map(|client| client.client.clone()).collect::<Vec<_>>())
        };
        let Some(first) = lack.first() else { continue };
        let why = match first.dropped.contains(column) {
            true => "leave it out",
            false => "do not have it",
        };
        return Err(Error::Invalid(format!(
            "column `{column}`: these clients describe it: {}; these {why}: {}. Add it to their tables, or leave it out of all with --drop {column}.",
            names(&have),
            names(&lack)
        )));
    }
    Ok(columns)
}
