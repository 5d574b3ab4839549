//! The cells of the grid that could not be run.

use equipoise_core::Choice;
use equipoise_report::{Block, Cell, Column, Section, Table};

use super::Results;
use super::wording::share;
use crate::experiment::FailedCells;

impl Results<'_> {
    /// `None` if all cells could be run.
    pub(super) fn failed_section(&self) -> Option<Section> {
        let failed = self.experiment.failed_cells();
        let n_failed: usize = failed.iter().map(|split| split.cells.len()).sum();
        if failed.is_empty() {
            return None;
        }
        let lead = format!(
            "{n_failed} of {} cells could not be run. They are missing from all figures below, which are means over the \
             seeds that could be run.",
            self.experiment.grid.len()
        );
        let rows = failed.iter().map(|split| self.failed_row(split)).collect();
        let columns = Column::list(["Dataset", "Fairness", "Seed", "Cells", "Reason"], []);
        let caption = "Cells that could not be run, by split".to_owned();
        let table = Block::Table(Table { caption, columns, rows });
        Some(Section::new("Cells that could not be run", lead, vec![table]))
    }

    fn failed_row(&self, split: &FailedCells) -> Vec<Cell> {
        let cells = split.cells.iter();
        let cells =
            cells.map(|(kind, unreliable)| format!("{} {}", kind.name(), share(*unreliable)));
        vec![
            Cell::text(self.experiment.dataset_title(&split.dataset)),
            Cell::text(split.fairness.name()),
            Cell::text(split.seed.to_string()),
            Cell::text(cells.collect::<Vec<_>>().join(", ")),
            // Cells of a table are plain text: no marks around names.
            Cell::text(split.problem.replace('`', "")),
        ]
    }
}
