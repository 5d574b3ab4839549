//! Whether a file is a proxy: decided in a process of its own, with limits, for a parser that a stranger
//! feeds may do anything.
//!
//! [`check_file`] is what the child does; [`ChildValidator`] is what the server does with a child;
//! [`InProcess`] does without one, for tests.

mod child;
mod parent;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use equipoise_data::Schema;
use serde::{Deserialize, Serialize};

use crate::protocol::Digest;
use crate::round::SubmissionLimits;

pub use child::{check_file, run_child};
pub use parent::{ChildValidator, InProcess};

/// What a validator is given.
#[derive(Debug, Clone)]
pub struct Job {
    /// The file, with the extension of its kind.
    pub file: PathBuf,
    /// Where to write the checked table; its folder is there.
    pub canonical: PathBuf,
    /// The round's schema.
    pub schema: Schema,
    /// What the file may be.
    pub limits: SubmissionLimits,
}

/// What a validator says: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The file is a proxy, and the checked table is written.
    Sound {
        /// Digest of the checked table.
        canonical_sha256: Digest,
        /// Rows.
        rows: u64,
        /// Different rows among them: exact up to five million of them, else within about 0.1 %.
        distinct_rows: u64,
    },
    /// A value that no proxy may hold, or a column too many or too few.
    Value {
        /// What and where.
        message: String,
        /// Row, from 1.
        row: Option<u64>,
        /// Column.
        column: Option<String>,
    },
    /// Not a table that can be read within the limits.
    File {
        /// Why.
        message: String,
    },
    /// The checked table could not be written: the disk is full.
    DiskFull,
    /// The checked table could not be written, or the file not be read.
    Storage {
        /// What the system said.
        message: String,
    },
}

/// A verdict that will be there.
pub type Pending = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Judges files.
pub trait Validator: Send + Sync {
    /// Judges one.
    fn validate(&self, job: Job) -> Pending;
}
