//! What one or more tables hold, column by column: enough to propose a schema for them or to describe them.

mod number_cells;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::group_counts::GroupCounts;
use super::label_counts::LabelCounts;
use super::statistics::{MAX_LEVELS, Statistics};
use crate::error::{Error, Purpose, TableProblem};
use crate::table::Table;
use number_cells::NumberCells;

/// The columns that have a role or were named by the user.
#[derive(Clone, Copy)]
pub(super) struct Roles<'a> {
    /// The label column and its positive value.
    pub(super) label: (&'a str, Option<&'a str>),
    /// The sensitive columns, each with its value in the reference group.
    pub(super) sensitive: &'a [(String, Option<String>)],
    pub(super) drop: &'a [String],
    pub(super) categorical: &'a [String],
    pub(super) numeric: &'a [String],
}

impl Roles<'_> {
    /// The value that must occur in a label or sensitive column.
    pub(super) fn required_value(&self, column: &str) -> Option<&str> {
        if column == self.label.0 {
            return self.label.1;
        }
        self.sensitive.iter().find(|(name, _)| name == column)?.1.as_deref()
    }

    pub(super) fn is_sensitive(&self, column: &str) -> bool {
        self.sensitive.iter().any(|(name, _)| name == column)
    }

    pub(super) fn is_feature(&self, column: &str) -> bool {
        column != self.label.0 && !self.is_sensitive(column)
    }

    /// Every named column must be in one of the tables and have one role.
    fn check(&self, tables: &[Table]) -> Result<(), Error> {
        if self.sensitive.is_empty() {
            return Err(Error::Invalid("name at least one sensitive column.".to_owned()));
        }
        let mut seen = HashSet::new();
        let names =
            [self.label.0].into_iter().chain(self.sensitive.iter().map(|(name, _)| &**name));
        let named = [self.drop, self.categorical, self.numeric].into_iter().flatten();
        for column in names.chain(named.map(String::as_str)) {
            if !tables.iter().any(|table| table.position(column).is_ok()) {
                tables.iter().try_for_each(|table| table.position(column).map(|_| ()))?;
            }
            if !seen.insert(column) {
                return Err(Error::Invalid(format!(
                    "column `{column}` is named twice among the label, sensitive, dropped, categorical and numeric columns. Name it once."
                )));
            }
        }
        Ok(())
    }
}

/// Statistics of all columns that are not dropped, of the labels and of the groups.
pub(super) struct Survey {
    /// What errors about all rows name.
    pub(super) source: PathBuf,
    pub(super) columns: Vec<String>,
    pub(super) statistics: Vec<Statistics>,
    pub(super) labels: LabelCounts,
    pub(super) groups: GroupCounts,
    pub(super) n_rows: u64,
}

impl Survey {
    /// Reads tables with the same columns, in any order, as if they were one.
    pub(super) fn of_tables(tables: Vec<Table>, roles: &Roles<'_>) -> Result<Self, Error> {
        roles.check(&tables)?;
        let files: Vec<PathBuf> = tables.iter().map(|table| table.file().to_path_buf()).collect();
        let first = tables.first().map_or(&[][..], Table::columns);
        let columns: Vec<String> =
            first.iter().filter(|column| !roles.drop.contains(column)).cloned().collect();
        let statistics = columns.iter().map(|column| Statistics::new(roles.required_value(column)));
        let mut survey = Self {
            source: name_of(&files),
            statistics: statistics.collect(),
            labels: LabelCounts::new(&columns, roles.label.0),
            groups: GroupCounts::new(&columns, roles.sensitive),
            columns,
            n_rows: 0,
        };
        for (index, table) in tables.into_iter().enumerate() {
            survey.add(index, table, &files[0], roles)?;
        }
        survey.check_numbers(&files, roles)?;
        Ok(survey)
    }

    fn add(
        &mut self,
        index: usize,
        table: Table,
        first: &Path,
        roles: &Roles<'_>,
    ) -> Result<(), Error> {
        let file = table.file().to_path_buf();
        let chosen = self.columns.iter().map(|column| table.position(column));
        let chosen = chosen.collect::<Result<Vec<_>, _>>()?;
        let is_extra =
            |column: &&String| !self.columns.contains(column) && !roles.drop.contains(column);
        if let Some(column) = table.columns().iter().find(is_extra) {
            let problem = TableProblem::new(format!(
                "{} has no such column. Add it there, or leave it out with --drop {column}.",
                first.display()
            ));
            return Err(problem.in_column(&file, column));
        }
        let mut numbers = NumberCells::new(&self.columns, roles);
        let n_rows = table.visit(&chosen, |row, cells| {
            for (statistics, cell) in self.statistics.iter_mut().zip(cells) {
                statistics.add(index, row, *cell);
            }
            self.labels.add(cells);
            self.groups.add(cells);
            numbers.add(row, cells);
            Ok(())
        })?;
        if n_rows == 0 {
            return Err(TableProblem::no_rows(Purpose::Data).in_file(&file));
        }
        self.n_rows += n_rows;
        numbers.none_in(&file)
    }

    /// Refuses infinite numbers, unless text makes their column categorical.
    fn check_numbers(&self, files: &[PathBuf], roles: &Roles<'_>) -> Result<(), Error> {
        let features = self.columns.iter().zip(&self.statistics);
        for (column, statistics) in features.filter(|(column, _)| roles.is_feature(column)) {
            let is_numeric = !statistics.has_text && !roles.categorical.contains(column);
            if let Some(place) = statistics.first_infinite.as_ref().filter(|_| is_numeric) {
                let problem = TableProblem::not_finite(&place.text);
                return Err(problem.in_cell(&files[place.table], place.row, column));
            }
        }
        Ok(())
    }

    pub(super) fn too_many_levels(&self, column: &str) -> Error {
        let problem = TableProblem::new(format!(
            "the column has more than {MAX_LEVELS} distinct values, too many for a categorical feature. Leave it out with --drop {column}, or use --numeric {column} if it holds numbers."
        ));
        problem.in_column(&self.source, column)
    }
}

/// The file, or the first of several.
fn name_of(files: &[PathBuf]) -> PathBuf {
    match files {
        [first, rest @ ..] if !rest.is_empty() => {
            format!("{} and {} more", first.display(), rest.len()).into()
        }
        files => files.first().cloned().unwrap_or_default(),
    }
}
