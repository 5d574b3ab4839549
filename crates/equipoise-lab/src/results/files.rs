//! The files of an experiment.

use equipoise_data::write_atomically;
use equipoise_report::{Block, Page, Table};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Results;
use crate::error::Error;
use crate::experiment::write_results_csv;

impl Results<'_> {
    /// Writes `report.html`, `results.csv` and a CSV file for every table of the page into the folder,
    /// replacing existing ones, and returns the page's path.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Error> {
        let page = self.page();
        write_results_csv(&folder.join("results.csv"), &self.experiment.grid)?;
        let tables = folder.join("tables");
        std::fs::create_dir_all(&tables).map_err(Error::folder(&tables))?;
        let named = named_tables(&page);
        remove_stale(&tables, &named)?;
        for (name, table) in named {
            write_text(&tables.join(name), &table.to_csv())?;
        }
        let report = folder.join("report.html");
        write_text(&report, &page.render())?;
        Ok(report)
    }
}

/// Removes the tables of an earlier page.
fn remove_stale(folder: &Path, named: &[(String, &Table)]) -> Result<(), Error> {
    let failed = |source| Error::Journal(folder.to_path_buf(), source);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let is_csv = file.extension().is_some_and(|extension| extension == "csv");
        if is_csv && !named.iter().any(|(name, _)| file.ends_with(name)) {
            std::fs::remove_file(&file).map_err(failed)?;
        }
    }
    Ok(())
}

/// Every table of a page, including those of charts, with a file name made from its heading.
fn named_tables(page: &Page) -> Vec<(String, &Table)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut tables = Vec::new();
    for section in &page.sections {
        for block in &section.blocks {
            let (title, table) = match block {
                Block::Table(table) => (format!("{} {}", section.heading, table.caption), table),
                Block::Chart(chart) => {
                    (format!("{} {}", section.heading, chart.title), &chart.table)
                }
                _ => continue,
            };
            let name = file_name(&title);
            let times = seen.entry(name.clone()).or_insert(0);
            *times += 1;
            let name = if *times == 1 { name } else { format!("{name}-{times}") };
            tables.push((name + ".csv", table));
        }
    }
    tables
}

/// Letters and digits, with hyphens in between.
fn file_name(title: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() >= MAX_LENGTH {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name += &word.to_ascii_lowercase();
    }
    name
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    Ok(write_atomically(path, true, |writer| writer.write_all(text.as_bytes()))?)
}
