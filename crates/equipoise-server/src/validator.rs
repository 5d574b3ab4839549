//! Validation of uploaded files, in a separate process with resource limits, because a parser of untrusted input may
//! crash or exhaust memory.
//!
//! [`check_file`] runs in the child. [`ChildValidator`] starts children. [`InProcess`] validates without a child, for
//! tests.

mod child;
mod parent;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use equipoise_data::Schema;
use serde::{Deserialize, Serialize};

use crate::protocol::{SubmissionLimits, Validated};

pub use child::{check_file, run_child};
pub use parent::{ChildValidator, InProcess};

/// The input of a validator.
#[derive(Debug, Clone)]
pub struct Job {
    /// The file. Its extension determines the format.
    pub file: PathBuf,
    /// Where to write the canonical table, in an existing folder.
    pub canonical: PathBuf,
    /// The round's schema.
    pub schema: Schema,
    /// Limits on the file.
    pub limits: SubmissionLimits,
}

/// The output of a validator: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The file is a valid proxy, and the canonical table is written.
    Valid(Validated),
    /// An invalid value, or a missing or extra column.
    Value {
        /// What is wrong, and where.
        message: String,
        /// Row, from 1.
        row: Option<u64>,
        /// Column.
        column: Option<String>,
    },
    /// The file cannot be read as a table within the limits.
    File {
        /// Why.
        message: String,
    },
    /// The disk is full.
    DiskFull,
    /// The validator itself failed.
    Storage {
        /// Why.
        message: String,
    },
}

/// A pending verdict.
pub type Pending = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Validates files.
pub trait Validator: Send + Sync {
    /// Validates one file.
    fn validate(&self, job: Job) -> Pending;
}
