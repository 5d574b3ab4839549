//! Some rows of a table that is decoded column by column.

mod column;

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use self::column::Column;
use super::Cell;
use crate::error::{Error, TableProblem};

/// Maximum number of rows decoded at a time.
pub(super) const MAX_BATCH_ROWS: usize = 4096;

/// Some decoded rows.
pub(crate) struct Batch<'a> {
    /// The number of the first row, counted from 1.
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    columns: Vec<Column<'a>>,
}

impl<'a> Batch<'a> {
    /// The columns of a batch at these positions. `None` if the type of one is not supported.
    pub(super) fn of(batch: &'a RecordBatch, at: &[usize], first_row: u64) -> Option<Self> {
        let columns = at.iter().map(|&i| Column::of(batch.column(i).as_ref()));
        Some(Self { first_row, n_rows: batch.num_rows(), columns: columns.collect::<Option<_>>()? })
    }

    /// The cells of row `i`, in the order of the chosen columns.
    pub(crate) fn cells(&self, i: usize, cells: &mut Vec<Cell<'a>>) {
        cells.clear();
        cells.extend(self.columns.iter().map(|column| column.cell(i)));
    }

    /// Calls `put` with index and number of every cell. `false` if a cell may not be a number.
    pub(crate) fn numbers(&self, column: usize, put: impl FnMut(usize, f64)) -> bool {
        self.columns[column].numbers(put)
    }
}

/// The names of all columns, trimmed. A table without columns is empty.
pub(super) fn column_names(path: &Path, schema: &Schema) -> Result<Vec<String>, Error> {
    let names: Vec<String> =
        schema.fields().iter().map(|field| field.name().trim().to_string()).collect();
    if names.is_empty() { Err(TableProblem::empty().in_file(path)) } else { Ok(names) }
}

/// Whether cells can hold the values of a column.
pub(super) fn can_hold(schema: &Schema, column: usize) -> bool {
    Column::can_hold(schema.field(column).data_type())
}

/// Rejects chosen columns that cells cannot hold.
pub(super) fn check_types(path: &Path, schema: &Schema, chosen: &[usize]) -> Result<(), Error> {
    let mut fields = chosen.iter().map(|&i| schema.field(i));
    match fields.find(|field| !Column::can_hold(field.data_type())) {
        None => Ok(()),
        Some(field) => {
            let problem = TableProblem::new(format!(
                "type {} is not supported, only numbers, booleans and text. Convert or drop the column.",
                field.data_type()
            ));
            Err(problem.in_column(path, field.name()))
        }
    }
}
