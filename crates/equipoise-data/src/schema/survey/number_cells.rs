//! Cells that keep a column from being numeric, although it should be.

use std::path::Path;

use super::Roles;
use crate::error::{BadCells, Error, TableProblem, number_with_comma};
use crate::table::Cell;

/// Text in columns that must be numeric, and numbers with a comma in the others.
pub(super) struct NumberCells(Vec<Column>);

struct Column {
    name: String,
    expects: Expects,
    bad: BadCells,
    /// Whether there is text that is not a number with a comma, so that the column is categorical.
    has_text: bool,
}

enum Expects {
    Numbers,
    NumbersOrText,
    Anything,
}

impl NumberCells {
    /// Checks these columns, which are the cells to come.
    pub(super) fn new(columns: &[String], roles: &Roles<'_>) -> Self {
        let column = |name: &String| {
            let expects = if roles.numeric.contains(name) {
                Expects::Numbers
            } else if roles.categorical.contains(name) || !roles.is_feature(name) {
                Expects::Anything
            } else {
                Expects::NumbersOrText
            };
            Column { name: name.clone(), expects, bad: BadCells::default(), has_text: false }
        };
        Self(columns.iter().map(column).collect())
    }

    pub(super) fn add(&mut self, row: u64, cells: &[Cell<'_>]) {
        for (column, cell) in self.0.iter_mut().zip(cells) {
            column.add(row, *cell);
        }
    }

    pub(super) fn none_in(self, file: &Path) -> Result<(), Error> {
        let bad = self.0.into_iter().filter(|column| !column.has_text).map(|column| column.bad);
        BadCells::merge(bad).none_in(file)
    }
}

impl Column {
    fn add(&mut self, row: u64, cell: Cell<'_>) {
        let name = &self.name;
        let problem = match (&self.expects, cell.number()) {
            (Expects::Anything, _) | (Expects::NumbersOrText, Some(_)) => return,
            (Expects::Numbers, Some(number)) if number.is_finite() => return,
            _ if cell == Cell::Missing || self.has_text => return,
            (Expects::Numbers, Some(_)) => TableProblem::not_finite(cell),
            (Expects::Numbers, None) => TableProblem::not_a_number(
                cell,
                format!(
                    "Correct the values, or leave out --numeric {name}, which makes the column categorical."
                ),
            ),
            (Expects::NumbersOrText, None) => match number_with_comma(&cell.to_string()) {
                Some(problem) => {
                    problem.or(&format!("If they are not numbers, use --categorical {name}."))
                }
                None => {
                    self.has_text = true;
                    return;
                }
            },
        };
        self.bad.add(row, name, problem);
    }
}
