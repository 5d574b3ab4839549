//! Tables of raw rows, encoded with the schema while they are read.

mod to_score;

use equipoise_core::{Rows, Warning};

use crate::distinct::Distinct;
use crate::error::{BadCells, Error, Purpose, TableProblem};
use crate::schema::{Encoded, Encoder, Schema};
use crate::table::{Cell, Table, TableFile, open_table};
use crate::warning::{self, MAX_NAMED};

pub use to_score::{RowNote, RowsToScore, UnscorableRow, read_rows_to_score};

/// Encoded rows and warnings about them.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedTable {
    /// The rows, in the order of the file.
    pub rows: Rows,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// Reads and encodes a table of raw rows with labels. The columns may come in any order; each must be in
/// the schema, `ignore` included. The error lists the cells that cannot be encoded.
pub fn read_rows<'a>(
    file: impl Into<TableFile<'a>>,
    schema: &'a Schema,
    purpose: Purpose,
) -> Result<EncodedTable, Error> {
    let columns = chosen_columns(schema, true, true);
    read_rows_of(open_table(TableFile { columns, ..file.into() })?, schema, purpose)
}

/// Like [`read_rows`], for an open table.
pub fn read_rows_of(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
) -> Result<EncodedTable, Error> {
    Ok(read_labelled(table, schema, purpose, None)?.0)
}

/// Rows to trust, and the cells of a column that names somebody in each row. Missing cells are `None`.
pub(crate) fn read_rows_and_names(
    table: Table,
    schema: &Schema,
    names: Option<&str>,
) -> Result<(EncodedTable, Vec<Option<String>>), Error> {
    read_labelled(table, schema, Purpose::Root, names)
}

fn read_labelled(
    table: Table,
    schema: &Schema,
    purpose: Purpose,
    names: Option<&str>,
) -> Result<(EncodedTable, Vec<Option<String>>), Error> {
    let columns = chosen_columns(schema, true, true);
    refuse_extra_columns(&table, schema, names)?;
    let path = table.file().to_path_buf();
    let (mut bad, mut found_names) = (BadCells::default(), Vec::new());
    let kept: Vec<&str> = names.into_iter().collect();
    let reading = read(table, schema, &columns, &kept, purpose, |row, cells, encoded| {
        for (column, problem) in encoded.err().into_iter().flatten() {
            bad.add(row, columns[column], problem);
        }
        let name = |cell: &Cell<'_>| (*cell != Cell::Missing).then(|| cell.to_string());
        found_names.extend(cells[columns.len()..].iter().map(name));
    })?;
    bad.none_in(&path)?;
    let rows = reading.rows(schema)?;
    let (labels, groups) = (&reading.label_values, &reading.sensitive_values);
    let mut warnings: Vec<Warning> = warning::many_values(&path, schema, labels, groups).collect();
    warnings.extend(warning::one_sided(&path, schema, &rows.cell_counts()));
    warnings.extend(warning::unknown_levels(&path, schema, &reading.unknown));
    Ok((EncodedTable { rows, warnings }, found_names))
}

/// What is remarkable about the cells of a row that was encoded, or what is wrong with those of one that was not, each
/// with the index of its column.
type EncodedRow = Result<Vec<(usize, Encoded)>, Vec<(usize, TableProblem)>>;

/// Reads and encodes the rows that can be encoded, and calls `on_row` with the number of each row, its cells and how
/// it was encoded. The cells of `kept` columns, which are not encoded, come last.
fn read(
    table: Table,
    schema: &Schema,
    columns: &[&str],
    kept: &[&str],
    purpose: Purpose,
    mut on_row: impl FnMut(u64, &[Cell<'_>], EncodedRow),
) -> Result<Reading, Error> {
    let file = table.file().to_path_buf();
    let all = columns.iter().chain(kept);
    let chosen = all.map(|column| table.position(column)).collect::<Result<Vec<_>, _>>()?;
    let mut reading = Reading::new(schema, columns);
    let n_rows = table.visit(&chosen, |row, cells| {
        on_row(row, cells, reading.add(&cells[..columns.len()]));
        Ok(())
    })?;
    if n_rows == 0 {
        return Err(TableProblem::no_rows(purpose).in_file(&file));
    }
    Ok(reading)
}

/// Features in the schema's order, then the sensitive columns, then the label.
pub(crate) fn chosen_columns(schema: &Schema, with_groups: bool, with_labels: bool) -> Vec<&str> {
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
    /// For the cells of `columns`, which are those of [`chosen_columns`].
    fn new(schema: &Schema, columns: &[&str]) -> Self {
        let sensitive = &schema.sensitive.columns;
        Self {
            encoder: Encoder::new(schema),
            n_features: schema.features.len(),
            n_sensitive: sensitive.iter().filter(|name| columns.contains(&name.as_str())).count(),
            x: Vec::new(),
            groups: Vec::new(),
            positive: Vec::new(),
            sensitive_values: Distinct::new(MAX_NAMED),
            label_values: Distinct::new(MAX_NAMED),
            unknown: vec![0; schema.features.len()],
        }
    }

    /// Adds a row if it can be encoded.
    fn add(&mut self, cells: &[Cell<'_>]) -> EncodedRow {
        let start = self.x.len();
        let (mut problems, mut remarkable) = (Vec::new(), Vec::new());
        for (i, cell) in cells[..self.n_features].iter().enumerate() {
            match self.encoder.feature(i, *cell, &mut self.x) {
                Ok(Encoded::AsIs) => {}
                Ok(encoded) => remarkable.push((i, encoded)),
                Err(problem) => problems.push((i, problem)),
            }
        }
        let label_at = self.n_features + self.n_sensitive;
        let sensitive = &cells[self.n_features..label_at];
        let group = match sensitive {
            [] => 0,
            _ => self.encoder.group(sensitive).unwrap_or_else(|(at, problem)| {
                problems.push((self.n_features + at, problem));
                0
            }),
        };
        // Rows to be scored have no label.
        let positive = cells.get(label_at).is_some_and(|label| {
            self.encoder.positive(*label).unwrap_or_else(|problem| {
                problems.push((label_at, problem));
                false
            })
        });
        if !problems.is_empty() {
            self.x.truncate(start);
            return Err(problems);
        }
        for &(i, encoded) in &remarkable {
            self.unknown[i] += u64::from(encoded == Encoded::Other);
        }
        self.groups.push(group);
        self.positive.push(positive);
        if let [value] = sensitive {
            self.sensitive_values.add(*value);
        }
        cells[label_at..].iter().for_each(|label| self.label_values.add(*label));
        Ok(remarkable)
    }

    fn rows(&self, schema: &Schema) -> Result<Rows, Error> {
        Ok(Rows::new(schema.layout(), &self.x, &self.groups, &self.positive)?)
    }
}

/// `allowed` need not be in the schema.
fn refuse_extra_columns(
    table: &Table,
    schema: &Schema,
    allowed: Option<&str>,
) -> Result<(), Error> {
    let known = chosen_columns(schema, true, true);
    let is_known = |column: &String| {
        known.contains(&column.as_str())
            || schema.ignore.contains(column)
            || allowed == Some(column.as_str())
    };
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
