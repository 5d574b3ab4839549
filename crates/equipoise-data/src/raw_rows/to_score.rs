//! Raw rows to be scored. Some of them may not be fit for it.

use equipoise_core::{Rows, Warning};

use super::{chosen_columns, read};
use crate::error::{Error, Purpose, TableProblem};
use crate::schema::Schema;
use crate::table_source::TableSource;
use crate::warning;

/// Encoded rows to be scored, and the rows that cannot be.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsToScore {
    /// The rows that can be scored, in the order of the file, with meaningless labels.
    pub rows: Rows,
    /// The rows that cannot, in the order of the file.
    pub unscorable: Vec<UnscorableRow>,
    /// Warnings about the rows.
    pub warnings: Vec<Warning>,
}

/// A row that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnscorableRow {
    /// Its number in the file, counted from 1.
    pub row: u64,
    /// What is wrong with it, and in which column.
    pub problems: Vec<(String, TableProblem)>,
}

impl UnscorableRow {
    /// "`age`: `abc` is not a number; `region`: the value is missing".
    pub fn reason(&self) -> String {
        let reason = |(column, problem): &(String, TableProblem)| {
            format!("`{column}`: {}", problem.statement())
        };
        self.problems.iter().map(reason).collect::<Vec<_>>().join("; ")
    }
}

/// Reads and encodes raw rows to be scored. The label column is ignored and may be absent. If the model is blind,
/// sensitive columns are ignored too, and all rows are in the first group. Columns that are not in the schema are
/// allowed.
pub fn read_rows_to_score(
    table: impl Into<TableSource>,
    schema: &Schema,
) -> Result<RowsToScore, Error> {
    // A blind model needs no groups for its predictions.
    let with_groups = schema.sensitive.as_feature;
    let columns = chosen_columns(schema, with_groups, false);
    let table = table.into().open(&columns)?;
    let path = table.file().to_path_buf();
    let mut unscorable = Vec::new();
    let reading = read(table, schema, &columns, Purpose::Prediction, |row, problems| {
        let named = |(at, problem): (usize, TableProblem)| (columns[at].to_owned(), problem);
        unscorable.push(UnscorableRow { row, problems: problems.into_iter().map(named).collect() });
    })?;
    let rows = reading.rows(schema)?;
    let (labels, groups) = (&reading.label_values, &reading.sensitive_values);
    let mut warnings: Vec<Warning> = warning::many_values(&path, schema, labels, groups).collect();
    if with_groups && rows.len() > 1 {
        warnings.extend(warning::scored_as_one_group(&path, schema, &rows.cell_counts()));
    }
    warnings.extend(warning::unknown_levels(&path, schema, &reading.unknown));
    Ok(RowsToScore { rows, unscorable, warnings })
}
