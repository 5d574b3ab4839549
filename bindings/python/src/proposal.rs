//! Schemas proposed from tables, or from descriptions of tables whose rows stay with their clients.

use equipoise_data::{
    DescribeOptions, Description, InferOptions, agree_on_roles, client_of, describe, infer_union,
    merge,
};
use pyo3::prelude::*;

use crate::error::{Stage, chosen, exception};
use crate::schema::Schema;
use crate::table::raw_table_with;
use crate::task;

/// A column, and a value of it.
type Role = (String, Option<String>);

/// A schema, and notes on it.
type Proposed = (Schema, Vec<String>);

/// The options that `schema infer` and `schema merge` have in common.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Proposal {
    two_groups: bool,
    blind: bool,
    drop: Vec<String>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    intercept: bool,
    codes: bool,
    label_rest_negative: bool,
    fill: Vec<String>,
    unknown: Option<String>,
}

impl Proposal {
    /// The options, without the label and the sensitive columns.
    fn options(self, py: Python<'_>) -> PyResult<InferOptions> {
        let fill =
            self.fill.iter().map(|name| chosen(py, "fill", name)).collect::<PyResult<_>>()?;
        let unknown = self.unknown.map(|name| chosen(py, "unknown", &name)).transpose()?;
        Ok(InferOptions {
            two_groups: self.two_groups,
            blind: self.blind,
            drop: self.drop,
            categorical: self.categorical,
            numeric: self.numeric,
            intercept: self.intercept,
            codes: self.codes,
            label_rest_negative: self.label_rest_negative,
            fill,
            unknown,
            ..InferOptions::default()
        })
    }
}

/// Proposes a schema for the rows of one or several tables.
#[pyfunction]
pub(crate) fn infer_schema(
    py: Python<'_>,
    tables: Vec<Bound<'_, PyAny>>,
    label: (String, String),
    sensitive: Vec<Role>,
    proposal: Proposal,
) -> PyResult<Proposed> {
    let options = InferOptions { label, sensitive, ..proposal.options(py)? };
    let name = |i: usize| match tables.len() {
        1 => "the table".to_owned(),
        _ => format!("table {}", i + 1),
    };
    let columns = columns(&options.label.0, &options.sensitive);
    let open = |(i, table)| raw_table_with(&name(i), table, &columns);
    let tables = tables.iter().enumerate().map(open).collect::<PyResult<Vec<_>>>()?;
    let inferred = task::run(py, Stage::Schema, None, move |_| Ok(infer_union(tables, &options)?))?;
    Ok((Schema(inferred.schema), inferred.notes))
}

/// The columns that tables must have, which help to detect the delimiter of CSV files.
fn columns<'a>(label: &'a str, sensitive: &'a [Role]) -> Vec<&'a str> {
    sensitive.iter().map(|(name, _)| name.as_str()).chain([label]).collect()
}

/// Describes a client's table: the description as JSON, and notes for the client's eyes only.
#[pyfunction]
#[pyo3(signature = (table, *, client, label, sensitive, drop, categorical, numeric, min_rows))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn describe_table(
    table: &Bound<'_, PyAny>,
    client: Option<String>,
    label: Role,
    sensitive: Vec<Role>,
    drop: Vec<String>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    min_rows: u64,
) -> PyResult<(String, Vec<String>)> {
    let py = table.py();
    let opened = raw_table_with("the table", table, &columns(&label.0, &sensitive))?;
    let file_name = (!opened.is_in_memory()).then(|| client_of(opened.file())).flatten();
    let client = client.or(file_name).unwrap_or_default().trim().to_owned();
    if client.is_empty() {
        let problem = anyhow::anyhow!("client must be the client's name, found none");
        return Err(exception(py, &problem, Stage::Setting));
    }
    let options =
        DescribeOptions { client, label, sensitive, drop, categorical, numeric, min_rows };
    let described = task::run(py, Stage::Schema, None, move |_| Ok(describe(opened, &options)?))?;
    Ok((described.description.to_json(), described.notes))
}

/// Checks a description, and returns it as `describe_table` does. `name` is where it comes from, for messages.
#[pyfunction]
pub(crate) fn parse_description(py: Python<'_>, json: &str, name: &str) -> PyResult<String> {
    let description = Description::from_json(json, name.as_ref());
    description
        .map(|description| description.to_json())
        .map_err(|error| exception(py, &error.into(), Stage::Schema))
}

/// Proposes a schema for the tables that these descriptions are about. Without a label or sensitive columns, the clients
/// must agree on them.
#[pyfunction]
pub(crate) fn merge_descriptions(
    py: Python<'_>,
    descriptions: Vec<String>,
    label: Option<(String, String)>,
    sensitive: Vec<Role>,
    proposal: Proposal,
) -> PyResult<Proposed> {
    let options = proposal.options(py)?;
    let merged = || -> anyhow::Result<_> {
        let parse = |json: &String| Description::from_json(json, "the description".as_ref());
        let descriptions = descriptions.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let roles = agree_on_roles(&descriptions, label.as_ref(), &sensitive)?;
        let options = InferOptions { label: roles.label, sensitive: roles.sensitive, ..options };
        Ok(merge(&descriptions, &options)?)
    };
    let merged = merged().map_err(|error| exception(py, &error, Stage::Schema))?;
    Ok((Schema(merged.schema), merged.notes))
}
