//! `results.jsonl`: settings and row digests, then a line per finished cell. An interrupted run resumes from it.

use equipoise_data::{Digest, NewFolders, Staged, uninterrupted};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// Called after each finished cell with the number done and the total.
pub type OnCell<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// A finished piece of work that is saved as one line.
pub(crate) trait Line: Serialize + DeserializeOwned {
    /// What identifies it.
    type Key: PartialEq;

    fn key(&self) -> &Self::Key;

    /// Whether it could not be run.
    fn failed(&self) -> bool;
}

/// The first line, which identifies the run: everything that the bits of a cell depend on.
#[derive(Serialize)]
pub(crate) struct Header<'a, S> {
    /// The program's version, because another version may round differently.
    pub(crate) version: &'static str,
    pub(crate) settings: &'a S,
    /// Digest of each dataset's rows.
    pub(crate) rows: BTreeMap<&'a str, Digest>,
}

impl<'a, S> Header<'a, S> {
    pub(crate) fn new(settings: &'a S, rows: BTreeMap<&'a str, Digest>) -> Self {
        Self { version: env!("CARGO_PKG_VERSION"), settings, rows }
    }
}

/// The cells of a run that are finished, in memory and in its journal.
pub(crate) struct FinishedCells<'a, C> {
    state: Mutex<(Journal, Vec<C>)>,
    n_cells: usize,
    on_cell: &'a OnCell<'a>,
}

impl<'a, C: Line> FinishedCells<'a, C> {
    /// Opens or creates the folder and its journal. Keeps those of its cells that are `requested`.
    ///
    /// `outputs` are the other files of such a run. If one of them exists without a journal, the folder is not ours.
    pub(crate) fn open(
        folder: &Path,
        header: &impl Serialize,
        outputs: &[&'static str],
        requested: &[&C::Key],
        on_cell: &'a OnCell<'a>,
    ) -> Result<Self, Error> {
        let (journal, mut cells) = Journal::open::<C>(folder, header, outputs)?;
        cells.retain(|cell| requested.contains(&cell.key()));
        let finished =
            Self { state: Mutex::new((journal, cells)), n_cells: requested.len(), on_cell };
        finished.report_progress();
        Ok(finished)
    }

    /// Those of `keys` without a finished cell.
    pub(crate) fn unfinished<'k>(&self, keys: &'k [C::Key]) -> Vec<&'k C::Key> {
        let state = self.lock();
        keys.iter().filter(|key| !state.1.iter().any(|cell| cell.key() == *key)).collect()
    }

    /// Saves a cell.
    pub(crate) fn keep(&self, cell: C) -> Result<(), Error> {
        {
            let mut state = self.lock();
            state.0.append(&cell)?;
            state.1.push(cell);
        }
        self.report_progress();
        Ok(())
    }

    /// All of them, in the order in which they were finished.
    pub(crate) fn into_cells(self) -> Vec<C> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }

    fn report_progress(&self) {
        let done = self.lock().1.len();
        (self.on_cell)(done, self.n_cells);
    }

    /// If a thread panicked while holding the lock, the cells are still complete.
    fn lock(&self) -> MutexGuard<'_, (Journal, Vec<C>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The journal of a run. It is locked, so that no other run writes to the folder.
struct Journal {
    path: PathBuf,
    file: File,
    /// A new journal and its folder, until the first cell is saved: before that, an interruption leaves nothing to resume.
    new: Option<(Staged<PathBuf>, NewFolders)>,
}

/// The first line of every journal starts with this.
const PREFIX: &str = "{\"version\":\"";

impl Journal {
    fn open<C: Line>(
        folder: &Path,
        header: &impl Serialize,
        outputs: &[&'static str],
    ) -> Result<(Self, Vec<C>), Error> {
        let path = folder.join("results.jsonl");
        let failed = |source| Error::Journal(path.clone(), source);
        if !path.exists()
            && let Some(name) = outputs.iter().find(|name| folder.join(name).exists())
        {
            return Err(Error::Foreign { folder: folder.display().to_string(), name });
        }
        let folders = NewFolders::create_all(folder).map_err(Error::folder(folder))?;
        let mut options = OpenOptions::new();
        let options = options.create(true).read(true).append(true);
        let (mut file, new) = if path.exists() {
            (options.open(&path).map_err(failed)?, None)
        } else {
            let mut file = None;
            let create = || {
                file = Some(options.open(&path)?);
                Ok(path.clone())
            };
            let staged = Staged::create(create).map_err(failed)?;
            (
                file.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?,
                Some((staged, folders)),
            )
        };
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
        if !is_ours && !is_without_results::<C>(whole) {
            let folder = folder.display().to_string();
            let first = whole.lines().next().unwrap_or_default();
            let is_journal = serde_json::from_str::<Value>(first)
                .is_ok_and(|header| header.get("settings").is_some());
            let other = if is_journal { Error::OtherExperiment } else { Error::OtherJournal };
            return Err(other(folder));
        }
        let mut cells: Vec<C> = Vec::new();
        if is_ours && !whole.is_empty() {
            for (number, line) in whole.lines().enumerate().skip(1) {
                let cell: C = serde_json::from_str(line)
                    .map_err(|source| Error::JournalLine(path.clone(), number + 1, source))?;
                if !cells.iter().any(|known| known.key() == cell.key()) {
                    cells.push(cell);
                }
            }
            file.set_len(whole.len() as u64).map_err(failed)?;
        } else {
            file.set_len(0).map_err(failed)?;
            file.write_all(header.as_bytes()).map_err(failed)?;
        }
        Ok((Self { path, file, new }, cells))
    }

    fn append(&mut self, cell: &impl Serialize) -> Result<(), Error> {
        let line = to_line(cell);
        // An interruption leaves whole lines.
        let written = uninterrupted(|| {
            self.new = None;
            self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush())
        });
        written.map_err(|source| Error::Journal(self.path.clone(), source))
    }
}

/// Whether this is a journal in which no cell could be run. It may be replaced.
fn is_without_results<C: Line>(journal: &str) -> bool {
    let mut cells = journal.lines().skip(1).map(serde_json::from_str::<C>);
    journal.starts_with(PREFIX) && cells.all(|cell| cell.is_ok_and(|cell| cell.failed()))
}

/// A line of JSON. Plain data always serialises.
fn to_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialises") + "\n"
}
