//! Proxies: tables in encoded space. One column per encoded feature, then the sensitive attribute as 0
//! or 1 and the label as −1 or 1. What is written reads back bit for bit.

use std::path::Path;

use equipoise_core::{LARGEST_VALUE, Rows};

use crate::error::{CellProblem, Error, Purpose};
use crate::output_table::{ColumnValues, OutputColumn, write_table};
use crate::schema::Schema;
use crate::table::{Cell, Table, open_table};

/// Writes a proxy as the kind of table that the extension says. The same rows give the same bytes.
pub fn write_proxy(path: &Path, rows: &Rows, schema: &Schema, force: bool) -> Result<(), Error> {
    check_layout(rows, schema)?;
    if rows.is_empty() {
        return Err(Error::NoRows { file: path.to_path_buf(), purpose: Purpose::Proxy });
    }
    let feature = |i| (0..rows.len()).map(|row| rows.x(row)[i]).collect();
    let privileged = (0..rows.len()).map(|i| i8::from(rows.is_privileged(i))).collect();
    let labels = (0..rows.len()).map(|i| if rows.is_positive(i) { 1 } else { -1 }).collect();
    let values = (0..rows.layout().n_x)
        .map(|i| ColumnValues::Numbers(feature(i)))
        .chain([ColumnValues::Codes(privileged), ColumnValues::Codes(labels)]);
    let columns: Vec<OutputColumn> =
        columns(schema).into_iter().zip(values).map(|(n, v)| OutputColumn::new(n, v)).collect();
    write_table(path, &columns, force)
}

/// Reads a proxy. The columns may come in any order, but none may be missing and none be added.
pub fn read_proxy(path: &Path, schema: &Schema) -> Result<Rows, Error> {
    let table = open_table(path)?;
    let file = table.file().to_path_buf();
    let columns = columns(schema);
    let chosen = positions(&table, &columns, schema)?;
    let n_x = schema.layout().n_x;

    let (mut x, mut privileged, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    let n_rows = table.visit(&chosen, |row, cells| {
        let at = |column: usize, problem| Error::Cell {
            file: file.clone(),
            row,
            column: columns[column].clone(),
            value: cells[column].to_string(),
            problem: Box::new(problem),
        };
        for (i, cell) in cells[..n_x].iter().enumerate() {
            x.push(number(*cell).map_err(|problem| at(i, problem))?);
        }
        privileged.push(code(cells[n_x], 1, 0).map_err(|problem| at(n_x, problem))?);
        positive.push(code(cells[n_x + 1], 1, -1).map_err(|problem| at(n_x + 1, problem))?);
        Ok(())
    })?;
    if n_rows == 0 {
        return Err(Error::NoRows { file, purpose: Purpose::Proxy });
    }
    Ok(Rows::new(schema.layout(), &x, &privileged, &positive)?)
}

/// Encoded features, sensitive attribute, label.
fn columns(schema: &Schema) -> Vec<String> {
    let mut columns = schema.encoded_names();
    columns.push(schema.sensitive.column.clone());
    columns.push(schema.label.column.clone());
    columns
}

fn positions(table: &Table, columns: &[String], schema: &Schema) -> Result<Vec<usize>, Error> {
    if let Some(extra) = table.columns().iter().find(|c| !columns.contains(c)) {
        return Err(Error::ExtraProxyColumn {
            file: table.file().to_path_buf(),
            column: extra.clone(),
            sensitive: schema.sensitive.column.clone(),
            label: schema.label.column.clone(),
        });
    }
    columns.iter().map(|column| table.position(column)).collect()
}

fn number(cell: Cell<'_>) -> Result<f64, CellProblem> {
    match cell.number() {
        Some(number) if number.abs() <= LARGEST_VALUE => Ok(number),
        Some(number) if number.is_finite() => {
            Err(CellProblem::TooLarge { value: cell.to_string() })
        }
        Some(_) => Err(CellProblem::NotFinite { value: cell.to_string() }),
        None if cell == Cell::Missing => Err(CellProblem::MissingInProxy),
        None => Err(CellProblem::NotEncoded { value: cell.to_string() }),
    }
}

/// Whether the cell is the `yes` code and not the `no` code.
fn code(cell: Cell<'_>, yes: i8, no: i8) -> Result<bool, CellProblem> {
    let number = number(cell)?;
    if number == f64::from(yes) {
        Ok(true)
    } else if number == f64::from(no) {
        Ok(false)
    } else {
        Err(CellProblem::NotACode { value: cell.to_string(), first: no, second: yes })
    }
}

/// Whether the rows can have been encoded by the schema.
pub(crate) fn check_layout(rows: &Rows, schema: &Schema) -> Result<(), Error> {
    let (expected, found) = (schema.layout(), rows.layout());
    if expected == found {
        return Ok(());
    }
    Err(Error::Layout {
        expected: expected.n(),
        expected_intercept: expected.intercept,
        found: found.n(),
        found_intercept: found.intercept,
    })
}

#[cfg(test)]
mod tests;
