//! `results.jsonl`: the settings and what tells the rows, then a line per finished cell.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::cell::Cell;
use super::settings::ExperimentSettings;
use crate::error::Error;

/// The first line: what makes an experiment the same. Ablations do not: they add to it.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    /// How the grid is run.
    pub(super) settings: &'a ExperimentSettings,
    /// Digest of each dataset's rows.
    pub(super) rows: BTreeMap<&'a str, String>,
}

/// The file of an experiment that is running.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal of this experiment, or begins one, and gives the cells that it holds.
    pub(super) fn open(folder: &Path, header: &Header<'_>) -> Result<(Self, Vec<Cell>), Error> {
        let path = folder.join("results.jsonl");
        let failed = |source| Error::Journal { file: path.display().to_string(), source };
        std::fs::create_dir_all(folder)
            .map_err(|source| Error::Folder { folder: folder.display().to_string(), source })?;
        let header = to_line(header);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        // A run that was killed while it wrote leaves a last line without its end: that cell is run again.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines();
        let known = lines.next();
        if known.is_some_and(|known| known != header.trim_end()) {
            return Err(Error::OtherExperiment { folder: folder.display().to_string() });
        }
        let mut cells = Vec::new();
        for (number, line) in lines.enumerate() {
            let cell = serde_json::from_str(line).map_err(|source| Error::JournalLine {
                file: path.display().to_string(),
                line: number + 2,
                source,
            })?;
            cells.push(cell);
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        file.set_len(whole.len() as u64).map_err(failed)?;
        if known.is_none() {
            file.write_all(header.as_bytes()).map_err(failed)?;
        }
        Ok((Self { path, file }, cells))
    }

    /// Keeps a finished cell.
    pub(super) fn append(&mut self, cell: &Cell) -> Result<(), Error> {
        let written =
            self.file.write_all(to_line(cell).as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|source| Error::Journal { file: self.path.display().to_string(), source })
    }
}

/// Plain data always serialises.
#[allow(clippy::expect_used)]
fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialises") + "\n"
}
