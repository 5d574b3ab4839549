//! Writes tables as CSV or Parquet, by file extension.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int8Array, RecordBatch, StringArray, UInt64Array};
use flate2::{Compression, GzBuilder};

use crate::error::Error;
use crate::output_file::write_atomically;
use crate::table::{TableKind, write_csv, write_parquet};

/// A column to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// Its name in the header.
    pub name: String,
    /// Its values, one per row.
    pub values: ColumnValues,
}

/// The values of a column, which also determine its Parquet type.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnValues {
    /// 64-bit floats, which round-trip bit for bit.
    Numbers(Vec<f64>),
    /// 8-bit integers.
    Codes(Vec<i8>),
    /// 64-bit integers.
    Counts(Vec<u64>),
    /// Text.
    Texts(Vec<String>),
    /// Like `Numbers`, but some cells are empty: null in Parquet.
    NumbersOrEmpty(Vec<Option<f64>>),
    /// Like `Codes`, but some cells are empty: null in Parquet.
    CodesOrEmpty(Vec<Option<i8>>),
}

impl OutputColumn {
    /// A column with this name.
    pub fn new(name: impl Into<String>, values: ColumnValues) -> Self {
        Self { name: name.into(), values }
    }

    /// The column with only these rows, counted from 0.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn of<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        let values = match &self.values {
            ColumnValues::Numbers(values) => ColumnValues::Numbers(of(values, rows)),
            ColumnValues::Codes(values) => ColumnValues::Codes(of(values, rows)),
            ColumnValues::Counts(values) => ColumnValues::Counts(of(values, rows)),
            ColumnValues::Texts(values) => ColumnValues::Texts(of(values, rows)),
            ColumnValues::NumbersOrEmpty(values) => ColumnValues::NumbersOrEmpty(of(values, rows)),
            ColumnValues::CodesOrEmpty(values) => ColumnValues::CodesOrEmpty(of(values, rows)),
        };
        Self { name: self.name.clone(), values }
    }
}

impl ColumnValues {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Codes(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::NumbersOrEmpty(values) => values.len(),
            Self::CodesOrEmpty(values) => values.len(),
        }
    }

    /// The values as text.
    pub(crate) fn texts(&self) -> Vec<String> {
        fn of<T: ToString>(values: &[T]) -> Vec<String> {
            values.iter().map(ToString::to_string).collect()
        }
        fn of_some<T: ToString>(values: &[Option<T>]) -> Vec<String> {
            values.iter().map(|v| v.as_ref().map_or(String::new(), ToString::to_string)).collect()
        }
        match self {
            Self::Numbers(values) => of(values),
            Self::Codes(values) => of(values),
            Self::Counts(values) => of(values),
            Self::Texts(values) => values.clone(),
            Self::NumbersOrEmpty(values) => of_some(values),
            Self::CodesOrEmpty(values) => of_some(values),
        }
    }

    pub(crate) fn can_have_empty_cells(&self) -> bool {
        matches!(self, Self::NumbersOrEmpty(_) | Self::CodesOrEmpty(_))
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Writes columns atomically, in the format that the file extension names. The same values give the same bytes.
/// Columns of unequal lengths are an [`Error::Write`].
pub fn write_table(path: &Path, columns: &[OutputColumn], force: bool) -> Result<(), Error> {
    let kind = TableKind::of(path)?;
    write_atomically(path, force, |out| {
        let n_rows = common_length(columns)?;
        match kind {
            TableKind::Csv => write_csv(out, columns, n_rows),
            TableKind::CsvGz => {
                // No name or time in the header, so that equal tables give equal bytes.
                let mut gz = GzBuilder::new().mtime(0).write(out, Compression::default());
                write_csv(&mut gz, columns, n_rows)?;
                gz.finish().map(|_| ())
            }
            TableKind::Parquet => write_parquet(out, columns),
        }
    })
}

/// The bytes that [`write_table`] writes to a CSV file.
pub fn csv_bytes(columns: &[OutputColumn]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_csv(&mut bytes, columns, common_length(columns)?)?;
    Ok(bytes)
}

/// The columns as one Arrow batch. Columns of unequal lengths are an error.
pub fn record_batch(columns: &[OutputColumn]) -> std::io::Result<RecordBatch> {
    let array =
        |c: &OutputColumn| (c.name.clone(), array(&c.values), c.values.can_have_empty_cells());
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(array))
        .map_err(std::io::Error::other)
}

fn array(values: &ColumnValues) -> ArrayRef {
    match values {
        ColumnValues::Numbers(values) => Arc::new(Float64Array::from(values.clone())),
        ColumnValues::Codes(values) => Arc::new(Int8Array::from(values.clone())),
        ColumnValues::Counts(values) => Arc::new(UInt64Array::from(values.clone())),
        ColumnValues::Texts(values) => Arc::new(StringArray::from(values.clone())),
        ColumnValues::NumbersOrEmpty(values) => Arc::new(Float64Array::from(values.clone())),
        ColumnValues::CodesOrEmpty(values) => Arc::new(Int8Array::from(values.clone())),
    }
}

fn common_length(columns: &[OutputColumn]) -> std::io::Result<usize> {
    let n_rows = columns.first().map_or(0, |column| column.values.len());
    match columns.iter().find(|column| column.values.len() != n_rows) {
        None => Ok(n_rows),
        Some(OutputColumn { name, values }) => Err(std::io::Error::other(format!(
            "column `{name}` has {} rows, not {n_rows}",
            values.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::table::{Cell, open_table};

    fn columns() -> Vec<OutputColumn> {
        vec![
            OutputColumn::new("client", ColumnValues::Texts(vec!["a, b".into(), "c".into()])),
            OutputColumn::new("rows", ColumnValues::Counts(vec![12, 7])),
            OutputColumn::new("weight", ColumnValues::Numbers(vec![0.1, -1e-300])),
            OutputColumn::new("code", ColumnValues::Codes(vec![-1, 1])),
        ]
    }

    #[test]
    fn every_kind_of_table_reads_back_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.csv.gz", "t.parquet"] {
            let path = dir.path().join(name);
            write_table(&path, &columns(), false).unwrap();
            if name == "t.csv" {
                assert_eq!(std::fs::read(&path).unwrap(), csv_bytes(&columns()).unwrap());
            }
            let table = open_table(&path).unwrap();
            assert_eq!(table.columns(), ["client", "rows", "weight", "code"]);
            let (mut texts, mut numbers) = (Vec::new(), Vec::new());
            let visit = |_: u64, cells: &[Cell<'_>]| {
                texts.push(cells[0].to_string());
                numbers.extend(cells[1..].iter().map(|cell| cell.number().unwrap()));
                Ok(())
            };
            assert_eq!(table.visit(&[0, 1, 2, 3], visit).unwrap(), 2, "{name}");
            assert_eq!(texts, ["a, b", "c"]);
            assert_eq!(numbers, [12.0, 0.1, -1.0, 7.0, -1e-300, 1.0]);
        }
    }

    #[test]
    fn empty_cells_are_missing_when_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let columns = [
            OutputColumn::new("score", ColumnValues::NumbersOrEmpty(vec![Some(0.5), None])),
            OutputColumn::new("code", ColumnValues::CodesOrEmpty(vec![None, Some(-1)])),
        ];
        for name in ["t.csv", "t.csv.gz", "t.parquet"] {
            let path = dir.path().join(name);
            write_table(&path, &columns, false).unwrap();
            let mut cells = Vec::new();
            let visit = |_: u64, row: &[Cell<'_>]| {
                cells.extend(row.iter().map(Cell::number));
                Ok(())
            };
            open_table(&path).unwrap().visit(&[0, 1], visit).unwrap();
            assert_eq!(cells, [Some(0.5), None, None, Some(-1.0)], "{name}");
        }
    }

    #[test]
    fn columns_of_different_lengths_and_unknown_kinds_leave_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut uneven = columns();
        uneven[1].values = ColumnValues::Counts(vec![1]);
        let error = write_table(&dir.path().join("t.csv"), &uneven, false).unwrap_err();
        assert!(error.to_string().contains("`rows` has 1 rows, not 2"), "{error}");
        assert!(write_table(&dir.path().join("t.txt"), &columns(), false).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
