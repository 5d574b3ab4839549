//! Why a scenario could not be built.

use std::path::PathBuf;

use equipoise_data::Digest;

use crate::fetch::FetchProblem;

/// An error of the maths or of the files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The maths refused.
    #[error(transparent)]
    Core(#[from] equipoise_core::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    /// A folder could not be made.
    #[error("cannot make the folder {folder}")]
    Folder {
        /// The folder.
        folder: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Settings that no scenario can have.
    #[error("{name} must be {range}, found {found}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// The value found.
        found: f64,
    },
    /// A dataset that the program does not know.
    #[error("there is no dataset called `{name}`; there are law-school, dutch, synthetic and csv")]
    UnknownDataset {
        /// The name asked for.
        name: String,
    },
    /// A cell of an experiment cannot be run.
    #[error("{place}: {problem}")]
    Cell {
        /// Which.
        place: String,
        /// Why.
        problem: Box<Error>,
    },
    /// Another run is at work in the folder.
    #[error("another experiment is running in {folder}; wait for it, or choose another folder")]
    Busy {
        /// The folder.
        folder: String,
    },
    /// The folder holds what an experiment would replace, and no journal of one.
    #[error("{folder} holds {name}, and it is not from an experiment; choose another folder")]
    Foreign {
        /// The folder.
        folder: String,
        /// What is there.
        name: &'static str,
    },
    /// A list names a thing twice.
    #[error("{what} is named twice")]
    Twice {
        /// The thing.
        what: String,
    },
    /// No place was named to look for a dataset.
    #[error("dataset {dataset}: name its file, or the folder that holds it, with --data")]
    NoData {
        /// The dataset.
        dataset: &'static str,
    },
    /// An own table needs its schema.
    #[error(
        "dataset csv: name the table's schema with --schema (`equipoise schema infer` makes one)"
    )]
    NoSchema,
    /// An own table was asked for and none named.
    #[error("dataset csv: name the table with --data FILE")]
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
    /// A dataset's file is not the file that is expected.
    #[error(
        "dataset {dataset}: {} is a different file: its SHA-256 is {found}, not {expected}",
        file.display()
    )]
    DatasetDigest {
        /// The dataset.
        dataset: &'static str,
        /// The file.
        file: PathBuf,
        /// The digest it should have.
        expected: &'static str,
        /// The digest it has.
        found: Digest,
    },
    /// A file could not be fetched.
    #[error("{url}: {problem}")]
    Fetch {
        /// The URL requested.
        url: String,
        /// What went wrong.
        problem: FetchProblem,
    },
    /// The journal of an experiment cannot be read or written.
    #[error("{file} cannot be read or written")]
    Journal {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line of the journal is not a cell.
    #[error("{file}, line {line}: not a finished cell; remove the line to have it run again")]
    JournalLine {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The folder holds an experiment with other settings.
    #[error("{folder} holds an experiment with other settings; choose another folder")]
    OtherExperiment {
        /// The folder.
        folder: String,
    },
}
