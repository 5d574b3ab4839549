//! Validation of uploaded files, in a separate sandboxed process, because a parser of untrusted input may crash, exhaust
//! memory or be taken over.
//!
//! [`run_child`] is that process: it opens its files, enters the sandbox and only then reads them. [`ChildValidator`]
//! starts children when the scheduler gives them a turn. [`InProcess`] validates without a child, for tests.

mod back_off;
mod budget;
mod canonical;
mod child;
mod parent;
mod queue;
mod sandbox;
mod scheduler;
mod self_test;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use equipoise_data::Schema;
use serde::{Deserialize, Serialize};

use crate::protocol::{ClientId, Refusal, RoundId, SubmissionLimits, Validated};

pub use canonical::digest_proxy;
pub use child::{SelfTest, check_file, run_child, run_self_test};
pub use parent::{ChildValidator, InProcess};
pub use sandbox::Restriction;

/// A client of a round.
pub type ClientKey = (RoundId, ClientId);

/// The input of a validator.
#[derive(Debug, Clone)]
pub struct Job {
    /// Who sent the file.
    pub client: ClientKey,
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
    /// Validates one file. The validation continues if the future is dropped.
    fn validate(&self, job: Job) -> Pending;

    /// Refuses a client that must wait because its last files were rejected. Called before a body is read.
    fn admit(&self, client: &ClientKey) -> Result<(), Refusal>;

    /// Validates a small table and reports how the process that reads files is restricted. The error says why this
    /// validator cannot validate anything.
    fn self_test(&self) -> Result<Vec<Restriction>, String>;
}
