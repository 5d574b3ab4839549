//! Why a scenario or an experiment failed.

use std::path::{Path, PathBuf};

use equipoise_data::Digest;

use crate::fetch::FetchProblem;

/// Why a scenario or an experiment failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the solver.
    #[error(transparent)]
    Core(#[from] equipoise_core::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    /// This folder could not be created.
    #[error("cannot create the folder {0}")]
    Folder(PathBuf, #[source] std::io::Error),
    /// A setting is out of range.
    #[error("--{name} must be {range}, found {found}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The value found.
        found: f64,
    },
    /// A table has too few rows for so many clients.
    #[error(
        "the table has {n_rows} rows, too few for {n_clients} clients: each needs at least one row to train, to test and for its root. Use fewer --clients."
    )]
    TooManyClients {
        /// Rows of the table.
        n_rows: usize,
        /// Clients.
        n_clients: usize,
    },
    /// A client would have training rows of only one label or group.
    #[error(
        "client {client} would have only training rows {which}, of which no proxy can be made. Use fewer --clients, or a smaller --test and --trusted."
    )]
    OneSidedClient {
        /// The client.
        client: String,
        /// What its rows have in common.
        which: String,
    },
    /// There is no dataset of this name.
    #[error("there is no dataset `{0}`. Choose law-school, dutch, synthetic or csv.")]
    UnknownDataset(String),
    /// A cell of an experiment, with this key, failed.
    #[error("{0}: {1}")]
    Cell(String, Box<Error>),
    /// None of this number of cells could be run. The key of the first, and why.
    #[error("none of the {0} cells could be run. {1}: {2}")]
    NoCell(usize, String, String),
    /// Another run is writing to this folder.
    #[error("another run is writing to {0}. Wait for it, or choose another folder.")]
    Busy(String),
    /// The folder contains a file that a run would replace, but no journal.
    #[error(
        "{folder} contains {name} but no results.jsonl, so it is not from an earlier run. Choose another folder."
    )]
    Foreign {
        /// The folder.
        folder: String,
        /// The file.
        name: &'static str,
    },
    /// A method's weights or coefficients are not finite.
    #[error("its weights or coefficients are not finite numbers")]
    NotFinite,
    /// A method's gap cannot be measured.
    #[error("its gap cannot be measured: a group has no test rows that count")]
    NoGap,
    /// A list contains this item twice.
    #[error("{0} is listed twice. List it once.")]
    Twice(String),
    /// No location was given for this dataset.
    #[error("dataset {0}: name its file, or the folder that contains it, with --data.")]
    NoData(&'static str),
    /// Your own table needs a schema.
    #[error(
        "dataset csv: name the table's schema with --schema (`equipoise schema infer` creates one)."
    )]
    NoSchema,
    /// Your own table was requested but not named.
    #[error("dataset csv: name the table with --data FILE.")]
    NoOwnTable,
    /// A dataset's file cannot be read.
    #[error("dataset {dataset}: {} cannot be read", file.display())]
    DatasetFile {
        /// The dataset.
        dataset: &'static str,
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A dataset's file is not the expected one.
    #[error(
        "dataset {dataset}: {} is a different file: its SHA-256 is {found}, not {expected}",
        file.display()
    )]
    DatasetDigest {
        /// The dataset.
        dataset: &'static str,
        /// The file.
        file: PathBuf,
        /// The expected digest.
        expected: &'static str,
        /// The file's digest.
        found: Digest,
    },
    /// A download failed.
    #[error("{url}: {problem}")]
    Fetch {
        /// The URL requested.
        url: String,
        /// What went wrong.
        problem: FetchProblem,
    },
    /// The journal of a run cannot be read or written.
    #[error("{0} cannot be read or written")]
    Journal(PathBuf, #[source] std::io::Error),
    /// This line of the journal, counted from 1, is not a cell.
    #[error("{0}, line {1}: not a finished cell. Remove the line to run the cell again.")]
    JournalLine(PathBuf, usize, #[source] serde_json::Error),
    /// The folder contains a file that is not the journal of such a run.
    #[error("{0} contains a results.jsonl of something else. Choose another folder.")]
    OtherJournal(String),
    /// The folder contains a run with other settings, of other rows, or by another version.
    #[error(
        "{0} contains a run with other settings or rows: see the first line of its results.jsonl. To continue that run, \
         repeat its settings; to run with the new ones, choose another folder."
    )]
    OtherExperiment(String),
    /// A dataset has fewer rows than the people requested.
    #[error(
        "--people must be at most {rows}, the number of rows of dataset {dataset}, found {people}"
    )]
    FewPeople {
        /// The dataset.
        dataset: String,
        /// Its number of rows.
        rows: usize,
        /// The number requested.
        people: usize,
    },
}

impl Error {
    pub(crate) fn folder(folder: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Folder(folder.to_path_buf(), source)
    }
}
