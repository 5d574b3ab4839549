//! `results.jsonl`: settings and row digests, then a line per finished cell.

use equipoise_data::Digest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::cell::Cell;
use super::settings::ExperimentSettings;
use crate::error::Error;

/// The first line, which identifies the experiment. Ablations are not part of it, so they can be added later.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    /// The program's version, because another version may round differently.
    pub(super) version: &'static str,
    pub(super) settings: &'a ExperimentSettings,
    /// Digest of each dataset's rows.
    pub(super) rows: BTreeMap<&'a str, Digest>,
}

/// The journal of a running experiment. It is locked, so that no other run writes to the folder.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

/// The other files of an experiment. If one of them exists without a journal, the folder is not ours.
const OUTPUTS: [&str; 5] =
    ["results.csv", "ablations.csv", "traces.csv", "RESULTS.md", "report.html"];

/// The first line of every journal starts with this.
const PREFIX: &str = "{\"version\":\"";

impl Journal {
    /// Opens or creates the journal and returns its cells.
    pub(super) fn open(folder: &Path, header: &Header<'_>) -> Result<(Self, Vec<Cell>), Error> {
        let path = folder.join("results.jsonl");
        let failed = |source| Error::Journal(path.clone(), source);
        if !path.exists()
            && let Some(name) = OUTPUTS.into_iter().find(|name| folder.join(name).exists())
        {
            return Err(Error::Foreign { folder: folder.display().to_string(), name });
        }
        // Create the folder of tables now, because it is better to fail before the work than after it.
        let tables = folder.join("tables");
        std::fs::create_dir_all(&tables).map_err(Error::folder(&tables))?;
        let mut file =
            OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy(folder.display().to_string()));
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let header = to_line(header);
        // A run that was killed while writing leaves an incomplete last line. That cell is run again.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let is_ours =
            if whole.is_empty() { header.starts_with(&text) } else { whole.starts_with(&header) };
        if !is_ours {
            // A journal without a finished cell may be replaced.
            let has_no_cell = whole.starts_with(PREFIX) && whole.lines().count() == 1;
            if !has_no_cell {
                return Err(Error::OtherExperiment(folder.display().to_string()));
            }
        }
        let mut cells: Vec<Cell> = Vec::new();
        for (number, line) in whole.lines().enumerate().skip(1) {
            let cell: Cell = serde_json::from_str(line)
                .map_err(|source| Error::JournalLine(path.clone(), number + 1, source))?;
            if !cells.iter().any(|known| known.key == cell.key) {
                cells.push(cell);
            }
        }
        if is_ours && !whole.is_empty() {
            file.set_len(whole.len() as u64).map_err(failed)?;
        } else {
            file.set_len(0).map_err(failed)?;
            file.write_all(header.as_bytes()).map_err(failed)?;
        }
        Ok((Self { path, file }, cells))
    }

    pub(super) fn append(&mut self, cell: &Cell) -> Result<(), Error> {
        let written =
            self.file.write_all(to_line(cell).as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|source| Error::Journal(self.path.clone(), source))
    }
}

/// A line of JSON. Plain data always serialises.
fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialises") + "\n"
}
