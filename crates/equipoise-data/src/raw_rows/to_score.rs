//! Raw rows to be scored. Some of them may not be fit for it.

use equipoise_core::{Rows, Warning};

use super::{chosen_columns, read};
use crate::error::{Error, Purpose, TableProblem};
use crate::schema::{Encoded, Schema, UNUSUAL};
use crate::table::{Cell, Table};
use crate::warning;

/// Encoded rows to be scored, and the rows that cannot be.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsToScore {
    /// The rows that can be scored, in the order of the file, with meaningless labels.
    pub rows: Rows,
    /// The rows that cannot, in the order of the file.
    pub unscorable: Vec<UnscorableRow>,
    /// What to know about some of the rows that can.
    pub notes: Vec<RowNote>,
    /// The cells of each column to be kept, of all rows.
    pub kept: Vec<Vec<String>>,
    /// Warnings about the rows.
    pub warnings: Vec<Warning>,
}

/// What to know about the score of a row: values that were filled, that count as other or that are unusual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowNote {
    /// Its number in the file, counted from 1.
    pub row: u64,
    /// "`region`: `north` is unknown and counts as other; `age` is missing and was filled".
    pub text: String,
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
/// allowed, and those in `keep` are copied.
pub fn read_rows_to_score(
    table: Table,
    schema: &Schema,
    keep: &[&str],
) -> Result<RowsToScore, Error> {
    // A blind model needs no groups for its predictions.
    let with_groups = schema.sensitive.as_feature;
    let columns = chosen_columns(schema, with_groups, false);
    let path = table.file().to_path_buf();
    let (mut unscorable, mut notes) = (Vec::new(), Vec::new());
    let mut kept = vec![Vec::new(); keep.len()];
    let reading =
        read(table, schema, &columns, keep, Purpose::Prediction, |row, cells, encoded| {
            let texts = cells[columns.len()..].iter().map(Cell::to_string);
            kept.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
            match encoded {
                Ok(remarkable) if remarkable.is_empty() => {}
                Ok(remarkable) => {
                    notes.push(RowNote { row, text: note(&remarkable, &columns, cells) })
                }
                Err(problems) => {
                    let problems = problems.into_iter();
                    let named = problems.map(|(at, problem)| (columns[at].to_owned(), problem));
                    unscorable.push(UnscorableRow { row, problems: named.collect() });
                }
            }
        })?;
    let rows = reading.rows(schema)?;
    let (labels, groups) = (&reading.label_values, &reading.sensitive_values);
    let mut warnings: Vec<Warning> = warning::many_values(&path, schema, labels, groups).collect();
    if with_groups && rows.len() > 1 {
        warnings.extend(warning::scored_as_one_group(&path, schema, &rows.cell_counts()));
    }
    warnings.extend(warning::unknown_levels(&path, schema, &reading.unknown));
    Ok(RowsToScore { rows, unscorable, notes, kept, warnings })
}

fn note(remarkable: &[(usize, Encoded)], columns: &[&str], cells: &[Cell<'_>]) -> String {
    let part = |&(at, encoded): &(usize, Encoded)| {
        let (column, cell) = (columns[at], cells[at]);
        match encoded {
            Encoded::AsIs => String::new(),
            Encoded::Filled => format!("`{column}` is missing and was filled"),
            Encoded::Other => format!("`{column}`: `{cell}` is unknown and counts as other"),
            Encoded::Unusual => {
                format!(
                    "`{column}`: {cell} is more than {UNUSUAL} standard deviations from the mean"
                )
            }
        }
    };
    remarkable.iter().map(part).collect::<Vec<_>>().join("; ")
}
