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
/// meaningless negative label. If the model is blind, sensitive columns are ignored too, and all rows are in the first
/// group. Columns that are not in the schema are allowed.
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
    // A blind model needs no groups for its predictions.
    let with_groups = with_labels || schema.sensitive.as_feature;
    let columns = chosen_columns(schema, with_groups, with_labels);
    let chosen =
        columns.iter().map(|column| table.position(column)).collect::<Result<Vec<_>, _>>()?;

    let mut reading = Reading::new(schema, with_groups);
    let n_rows = table.visit(&chosen, |row, cells| {
        reading.add(cells).map_err(|(column, problem)| problem.in_cell(&file, row, columns[column]))
    })?;
    if n_rows == 0 {
        return Err(TableProblem::no_rows(purpose).in_file(&file));
    }

    let rows = Rows::new(schema.layout(), &reading.x, &reading.groups, &reading.positive)?;
    let mut warnings: Vec<Warning> = Vec::new();
    let (labels, groups) = (&reading.label_values, &reading.sensitive_values);
    warnings.extend(warning::many_values(&file, schema, labels, groups));
    // Rows to be scored have no labels, and no groups if the model is blind.
    let one_sided = warning::one_sided(&file, schema, &rows.cell_counts()).into_iter();
    warnings.extend(one_sided.filter(|w| match w.code {
        WarningCode::OneGroup => with_groups,
        _ => with_labels,
    }));
    warnings.extend(warning::unknown_levels(&file, schema, &reading.unknown));
    Ok(EncodedTable { rows, warnings })
}

/// Features in the schema's order, then the sensitive columns, then the label.
fn chosen_columns(schema: &Schema, with_groups: bool, with_labels: bool) -> Vec<&str> {
    let features = schema.features.iter().map(|f| &f.column);
    let sensitive = schema.sensitive.columns.iter().filter(|_| with_groups);
    let label = with_labels.then_some(&schema.label.column);
    features.chain(sensitive).chain(label).map(String::as_str).collect()
}

struct Reading {
    encoder: Encoder,
    n_features: usize,
    n_sensitive: usize,
    x: Vec<f64>,
    groups: Vec<u8>,
    positive: Vec<bool>,
    sensitive_values: Distinct,
    label_values: Distinct,
    /// Values of each feature that count as other.
    unknown: Vec<u64>,
}

impl Reading {
    fn new(schema: &Schema, with_groups: bool) -> Self {
        Self {
            encoder: Encoder::new(schema),
            n_features: schema.features.len(),
            n_sensitive: if with_groups { schema.sensitive.columns.len() } else { 0 },
            x: Vec::new(),
            groups: Vec::new(),
            positive: Vec::new(),
            sensitive_values: Distinct::new(MAX_NAMED),
            label_values: Distinct::new(MAX_NAMED),
            unknown: vec![0; schema.features.len()],
        }
    }

    /// Adds the cells of `chosen_columns`. A problem comes with the index of its cell.
    fn add(&mut self, cells: &[Cell<'_>]) -> Result<(), (usize, TableProblem)> {
        for (i, cell) in cells[..self.n_features].iter().enumerate() {
            let is_known = self.encoder.feature(i, *cell, &mut self.x).map_err(|p| (i, p))?;
            self.unknown[i] += u64::from(!is_known);
        }
        let label_at = self.n_features + self.n_sensitive;
        let sensitive = &cells[self.n_features..label_at];
        let group = match sensitive {
            [] => 0,
            _ => self.encoder.group(sensitive).map_err(|(at, p)| (self.n_features + at, p))?,
        };
        self.groups.push(group);
        if let [value] = sensitive {
            self.sensitive_values.add(*value);
        }

        let positive = match cells.get(label_at) {
            Some(label) => {
                self.label_values.add(*label);
                self.encoder.positive(*label).map_err(|problem| (label_at, problem))?
            }
            None => false,
        };
        self.positive.push(positive);
        Ok(())
    }
}

fn refuse_extra_columns(table: &Table, schema: &Schema) -> Result<(), Error> {
    let known = chosen_columns(schema, true, true);
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
