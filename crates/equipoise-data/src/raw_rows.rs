//! Tables of raw rows, encoded with the schema while they are read.

use std::path::Path;

use equipoise_core::{Rows, Warning, WarningCode};

use crate::distinct::Distinct;
use crate::error::{Error, Purpose, TableProblem};
use crate::schema::{Encoder, Schema};
use crate::table::{Cell, Table, open_table};
use crate::warning::{self, MAX_NAMED};

/// Encoded rows and warnings about them.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedTable {
    /// The rows, in the order of the file.
    pub rows: Rows,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// Reads and encodes a table of raw rows with labels. The columns may come in any order; each must be in
/// the schema, `ignore` included.
pub fn read_rows(path: &Path, schema: &Schema, purpose: Purpose) -> Result<EncodedTable, Error> {
    let table = open_table(path)?;
    refuse_extra_columns(&table, schema)?;
    read(table, schema, purpose, true)
}

/// Reads and encodes raw rows to be scored. The label column is ignored and may be absent; all rows get a
/// meaningless negative label. Columns that are not in the schema are allowed.
pub fn read_features_for_prediction(path: &Path, schema: &Schema) -> Result<EncodedTable, Error> {
    read(open_table(path)?, schema, Purpose::Prediction, false)
}

fn read(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    with_labels: bool,
) -> Result<EncodedTable, Error> {
    let file = table.file().to_path_buf();
    let columns = chosen_columns(schema, with_labels);
    let chosen =
        columns.iter().map(|column| table.position(column)).collect::<Result<Vec<_>, _>>()?;

    let mut reading = Reading::new(schema);
    let n_rows = table.visit(&chosen, |row, cells| {
        reading.add(cells).map_err(|(column, problem)| problem.in_cell(&file, row, columns[column]))
    })?;
    if n_rows == 0 {
        return Err(TableProblem::no_rows(purpose).in_file(&file));
    }

    let rows = Rows::new(schema.layout(), &reading.x, &reading.privileged, &reading.positive)?;
    let mut warnings: Vec<Warning> = Vec::new();
    let (labels, groups) = (&reading.label_values, &reading.sensitive_values);
    warnings.extend(warning::many_values(&file, schema, labels, groups));
    // Rows to be scored have no labels, so only their groups can be one-sided.
    let one_sided = warning::one_sided(&file, schema, rows.cell_counts()).into_iter();
    warnings.extend(one_sided.filter(|w| with_labels || w.code == WarningCode::OneGroup));
    Ok(EncodedTable { rows, warnings })
}

/// Features in the schema's order, then the sensitive column, then the label.
fn chosen_columns(schema: &Schema, with_labels: bool) -> Vec<&str> {
    let features = schema.features.iter().map(|f| f.column.as_str());
    let label = with_labels.then_some(schema.label.column.as_str());
    features.chain([schema.sensitive.column.as_str()]).chain(label).collect()
}

struct Reading {
    encoder: Encoder,
    n_features: usize,
    x: Vec<f64>,
    privileged: Vec<bool>,
    positive: Vec<bool>,
    sensitive_values: Distinct,
    label_values: Distinct,
}

impl Reading {
    fn new(schema: &Schema) -> Self {
        Self {
            encoder: Encoder::new(schema),
            n_features: schema.features.len(),
            x: Vec::new(),
            privileged: Vec::new(),
            positive: Vec::new(),
            sensitive_values: Distinct::new(MAX_NAMED),
            label_values: Distinct::new(MAX_NAMED),
        }
    }

    /// Adds the cells of `chosen_columns`. A problem comes with the index of its cell.
    fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), (usize, TableProblem)> {
        for (i, cell) in cells[..self.n_features].iter().enumerate() {
            self.encoder.feature(i, *cell, &mut self.x).map_err(|problem| (i, problem))?;
        }
        let at = self.n_features;
        let privileged = self.encoder.privileged(cells[at]).map_err(|problem| (at, problem))?;
        self.privileged.push(privileged);
        self.sensitive_values.add(cells[at]);

        let positive = match cells.get(at + 1) {
            Some(label) => {
                self.label_values.add(*label);
                self.encoder.positive(*label).map_err(|problem| (at + 1, problem))?
            }
            None => false,
        };
        self.positive.push(positive);
        Ok(())
    }
}

fn refuse_extra_columns(table: &Table, schema: &Schema) -> Result<(), Error> {
    let known = chosen_columns(schema, true);
    let is_known =
        |column: &String| known.contains(&column.as_str()) || schema.ignore.contains(column);
    // A misspelled column is the more likely mistake, and its error suggests the right name.
    known.iter().try_for_each(|column| table.position(column).map(|_| ()))?;
    match table.columns().iter().find(|column| !is_known(column)) {
        Some(column) => Err(TableProblem::new(
            "not in the schema. Drop it from the table, or list it under `ignore` in the schema.",
        )
        .in_column(table.file(), column)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
