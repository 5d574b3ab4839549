//! Proxies: tables of encoded rows. One column per encoded feature, then the index of the group and the label as −1
//! or 1. Values round-trip bit for bit.

mod origin;
mod reader;
mod writer;

use std::path::Path;

use equipoise_core::Rows;

use crate::error::{Error, Purpose, TableProblem};
use crate::output_file::write_atomically;
use crate::output_table::{ColumnValues, OutputColumn, write_table};
use crate::schema::Schema;
use crate::table::TableKind;

pub(crate) use origin::Declaration;
pub use origin::{ProxyOrigin, check_origins};
pub(crate) use reader::visit_proxy_rows;
pub use reader::{OpenProxy, read_proxy, read_proxy_of, visit_proxy};
pub use writer::ProxyWriter;

/// Writes a proxy in the format that the file extension names. The same rows give the same bytes.
pub fn write_proxy(path: &Path, rows: &Rows, schema: &Schema, force: bool) -> Result<(), Error> {
    write_proxy_of(path, rows, schema, &ProxyOrigin::default(), force)
}

/// Writes a proxy that says where it comes from, if the format can: see [`ProxyOrigin`].
pub fn write_proxy_of(
    path: &Path,
    rows: &Rows,
    schema: &Schema,
    origin: &ProxyOrigin,
    force: bool,
) -> Result<(), Error> {
    check_layout(rows, schema)?;
    if rows.is_empty() {
        return Err(TableProblem::no_rows(Purpose::Proxy).in_file(path));
    }
    if TableKind::of(path)? == TableKind::Parquet {
        return write_atomically(path, force, |out| {
            let mut writer = ProxyWriter::new(out, schema);
            writer.set_origin(origin);
            writer.push(rows)?;
            writer.finish()
        });
    }
    write_table(path, &proxy_columns(rows, schema)?, force)
}

/// The columns of a proxy.
pub fn proxy_columns(rows: &Rows, schema: &Schema) -> Result<Vec<OutputColumn>, Error> {
    check_layout(rows, schema)?;
    let feature = |i| (0..rows.len()).map(|row| rows.x(row)[i]).collect();
    let groups = rows.groups().iter().map(|&group| group_code(group)).collect();
    let labels = (0..rows.len()).map(|i| if rows.is_positive(i) { 1 } else { -1 }).collect();
    let values = (0..rows.layout().n_x)
        .map(|i| ColumnValues::Numbers(feature(i)))
        .chain([ColumnValues::Codes(groups), ColumnValues::Codes(labels)]);
    Ok(columns(schema).into_iter().zip(values).map(|(n, v)| OutputColumn::new(n, v)).collect())
}

/// Encoded features, group, label.
pub(crate) fn columns(schema: &Schema) -> Vec<String> {
    let mut columns = schema.encoded_names();
    columns.push(schema.sensitive.column_name());
    columns.push(schema.label.column.clone());
    columns
}

/// A group as it is written. There are at most 100 groups.
fn group_code(group: u8) -> i8 {
    group as i8
}

pub(crate) fn check_layout(rows: &Rows, schema: &Schema) -> Result<(), Error> {
    let (expected, found) = (schema.layout(), rows.layout());
    if expected == *found {
        return Ok(());
    }
    if expected.n() == found.n() && expected.intercept == found.intercept {
        return Err(Error::Invalid(
            "the schema has other groups than these rows. Use the schema that the rows were encoded with."
                .to_owned(),
        ));
    }
    Err(Error::Invalid(format!(
        "the schema encodes rows of {} entries (intercept: {}), but these rows have {} (intercept: {}). Use the schema that the rows were encoded with.",
        expected.n(),
        expected.intercept,
        found.n(),
        found.intercept
    )))
}

#[cfg(test)]
mod tests;
