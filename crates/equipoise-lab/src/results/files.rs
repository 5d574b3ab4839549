//! The files of an experiment.

use equipoise_data::write_atomically;
use std::path::{Path, PathBuf};

use super::Results;
use crate::error::Error;
use crate::experiment::write_results_csv;

impl Results<'_> {
    /// Writes `report.html` and `results.csv` into the folder, replacing existing ones, and returns the page's path.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Error> {
        write_results_csv(&folder.join("results.csv"), &self.experiment.grid)?;
        let report = folder.join("report.html");
        let text = self.page().render();
        write_atomically(&report, true, |writer| writer.write_all(text.as_bytes()))?;
        Ok(report)
    }
}
