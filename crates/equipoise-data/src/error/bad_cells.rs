//! The cells of a table that cannot be used.

use std::fmt::{Display, Formatter};
use std::path::Path;

use super::number_with_comma::{AMBIGUOUS_COMMA, DECIMAL_COMMA, THOUSANDS_COMMA};
use super::table::printable;
use super::{Error, TableProblem};

/// Cells that are listed.
const MAX_LISTED: usize = 20;

/// The first bad cells of a table, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BadCells {
    listed: Vec<BadCell>,
    total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct BadCell {
    row: u64,
    column: String,
    problem: TableProblem,
}

impl BadCells {
    /// Adds a cell. Rows come in ascending order.
    pub(crate) fn add(&mut self, row: u64, column: &str, problem: TableProblem) {
        self.total += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(BadCell { row, column: column.to_owned(), problem });
        }
    }

    /// All of these cells, row by row.
    pub(crate) fn merge(parts: impl Iterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.total += part.total;
            all.listed.extend(part.listed);
        }
        all.listed.sort_by_key(|cell| cell.row);
        all.listed.truncate(MAX_LISTED);
        all
    }

    /// An error if there are any bad cells in this file.
    pub(crate) fn none_in(mut self, file: &Path) -> Result<(), Error> {
        self.settle_commas();
        match self.total {
            0 => Ok(()),
            1 => {
                let BadCell { row, column, problem } = self.listed.remove(0);
                Err(problem.in_cell(file, row, &column))
            }
            _ => Err(Error::Cells { file: file.to_path_buf(), cells: self }),
        }
    }

    /// A comma that could mean two things means what it means elsewhere in the column: `1,234` below `0,5` is a decimal.
    fn settle_commas(&mut self) {
        for i in 0..self.listed.len() {
            let cell = &self.listed[i];
            if cell.problem.kind() != AMBIGUOUS_COMMA {
                continue;
            }
            let clear = self.listed.iter().find(|other| {
                other.column == cell.column
                    && [DECIMAL_COMMA, THOUSANDS_COMMA].contains(&other.problem.kind())
            });
            if let Some(clear) = clear {
                let value = cell.problem.value.clone();
                self.listed[i].problem = TableProblem { value, ..clear.problem.clone() };
            }
        }
    }

    /// What to do about each kind of problem that is listed, once. If there are several, each names its problem.
    fn remedies(&self) -> Vec<String> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for TableProblem { problem, remedy, .. } in self.listed.iter().map(|cell| &cell.problem) {
            if !found.iter().any(|(other, same)| problem == other || remedy == same) {
                found.push((problem, remedy));
            }
        }
        match found[..] {
            [(_, remedy)] => vec![remedy.to_owned()],
            _ => found
                .iter()
                .map(|(problem, remedy)| format!("{problem}: {}", decapitalised(remedy)))
                .collect(),
        }
    }
}

/// A sentence as the rest of another one.
fn decapitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A heading, an aligned table and what to do.
impl Display for BadCells {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.listed.len() {
            n if (n as u64) < self.total => {
                writeln!(f, "{} cells cannot be used. The first {n}:", self.total)?;
            }
            n => writeln!(f, "{n} cells cannot be used:")?,
        }
        let heading = ["row", "column", "value", "problem"].map(str::to_owned);
        let cells = self.listed.iter().map(|BadCell { row, column, problem }| {
            let value = problem.value.clone().unwrap_or_default();
            [row.to_string(), printable(column), value, problem.problem.clone()]
        });
        let lines: Vec<[String; 4]> = std::iter::once(heading).chain(cells).collect();
        let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
        let (rows, columns, values) = (width(0), width(1), width(2));
        for [row, column, value, problem] in &lines {
            writeln!(f, "  {row:>rows$}  {column:columns$}  {value:values$}  {problem}")?;
        }
        f.write_str(&self.remedies().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(cells: BadCells) -> String {
        cells.none_in(Path::new("bank.csv")).unwrap_err().to_string()
    }

    #[test]
    fn one_cell_needs_no_table() {
        assert!(BadCells::default().none_in(Path::new("bank.csv")).is_ok());
        let mut one = BadCells::default();
        one.add(3, "age", TableProblem::not_finite("inf"));
        let expected =
            "bank.csv, row 3, column `age`: `inf` is not a finite number. Correct the value.";
        assert_eq!(text(one), expected);
    }

    #[test]
    fn several_cells_are_aligned_and_each_remedy_is_given_once() {
        let mut cells = BadCells::default();
        cells.add(9, "age", TableProblem::not_finite("inf"));
        cells.add(9, "region", TableProblem::of_cell("the value is missing", "Add it."));
        cells.add(10, "age", TableProblem::not_finite("1e400"));
        cells.add(11, "age", TableProblem::not_a_number("3,5", ""));
        cells.add(12, "age", TableProblem::not_a_number("4,5", ""));
        let expected = "\
bank.csv: 5 cells cannot be used:
  row  column  value  problem
    9  age     inf    is not a finite number
    9  region         the value is missing
   10  age     1e400  is not a finite number
   11  age     3,5    has a decimal comma
   12  age     4,5    has a decimal comma
is not a finite number: correct the value.
the value is missing: add it.
has a decimal comma: write numbers with a decimal point, such as 3.5.";
        assert_eq!(text(cells), expected);
    }

    #[test]
    fn a_comma_means_the_same_in_the_whole_column() {
        let mut cells = BadCells::default();
        cells.add(1, "age", TableProblem::not_a_number("1,234", ""));
        cells.add(2, "age", TableProblem::not_a_number("0,5", ""));
        cells.add(3, "pay", TableProblem::not_a_number("1,234", ""));
        let text = text(cells);
        assert!(text.contains("1  age     1,234  has a decimal comma\n"), "{text}");
        assert!(text.contains("3  pay     1,234  has a comma, either"), "{text}");
    }

    #[test]
    fn twenty_cells_are_listed_and_all_are_counted() {
        let mut cells = BadCells::default();
        (1..=50).for_each(|row| cells.add(row, "age", TableProblem::not_finite("inf")));
        (0..2).for_each(|_| cells.add(51, "age", TableProblem::not_finite("inf")));
        let text = text(cells);
        assert!(text.contains("52 cells cannot be used. The first 20:\n"), "{text}");
        assert_eq!(text.lines().count(), 1 + 1 + 20 + 1);
        assert!(text.contains("   20  age") && !text.contains("   21  age"), "{text}");
    }

    #[test]
    fn merged_cells_are_listed_row_by_row() {
        let part = |column: &str, rows: std::ops::Range<u64>| {
            let mut part = BadCells::default();
            rows.for_each(|row| part.add(row, column, TableProblem::not_finite("inf")));
            part
        };
        let text = text(BadCells::merge([part("a", 5..30), part("b", 1..7)].into_iter()));
        assert!(text.contains("31 cells cannot be used. The first 20:"), "{text}");
        let rows: Vec<&str> = text.lines().skip(2).map(|line| line[..8].trim()).collect();
        let first = ["1  b", "2  b", "3  b", "4  b", "5  a", "5  b", "6  a", "6  b", "7  a"];
        assert_eq!(rows[..9], first);
        assert_eq!(rows.len(), 20 + 1);
    }

    #[test]
    fn values_fit_on_a_line_and_cannot_control_the_terminal() {
        let mut cells = BadCells::default();
        cells.add(1, "a\nb", TableProblem::not_finite("\u{1b}[31m"));
        cells.add(1, "é", TableProblem::not_finite("é".repeat(61)));
        let text = text(cells);
        assert!(text.contains("2 cells cannot"), "{text}");
        assert!(text.contains(r"a\nb") && text.contains(r"\u{1b}[31m"), "{text}");
        assert!(text.contains(&("é".repeat(60) + "…")), "{text}");
    }
}
