//! The child process: opens its files, enters the sandbox, reads one file, writes one table and one verdict.

use std::fs::File;
use std::path::{Path, PathBuf};

use equipoise_data::{Error, ReadLimits, Schema};
use serde::{Deserialize, Serialize};

use super::budget::{Budget, decoded_limit};
use super::canonical::write_canonical;
use super::sandbox::{self, Restriction};
use super::{Job, Verdict};
use crate::protocol::SubmissionLimits;

/// The job of a child. It arrives on the standard input: arguments would show the client's name, which is part of a
/// file's name, to every user of the machine.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChildJob {
    pub(super) file: PathBuf,
    pub(super) canonical: PathBuf,
    pub(super) schema: String,
    pub(super) limits: SubmissionLimits,
    pub(super) budget: Budget,
}

/// The output of a child that tests its sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub struct SelfTest {
    /// The restrictions, active or not.
    pub restrictions: Vec<Restriction>,
    /// The verdict on the file.
    pub verdict: Verdict,
}

/// The hidden subcommand: runs the job on the standard input and returns the verdict.
pub fn run_child() -> Verdict {
    match Sandboxed::enter() {
        Ok(sandboxed) => sandboxed.opened.verdict(),
        Err(verdict) => verdict,
    }
}

/// Like [`run_child`], but also attempts what the sandbox forbids and reports its restrictions.
pub fn run_self_test() -> SelfTest {
    match Sandboxed::enter() {
        Ok(Sandboxed { mut restrictions, opened }) => {
            restrictions.extend(sandbox::attempt_forbidden_operations(&opened.path));
            SelfTest { restrictions, verdict: opened.verdict() }
        }
        Err(verdict) => SelfTest { restrictions: Vec::new(), verdict },
    }
}

/// Validates a file against the schema and writes the canonical table, without a sandbox.
pub fn check_file(job: &Job) -> Verdict {
    match Opened::new(&job.file, &job.canonical, job.schema.clone(), job.limits) {
        Ok(opened) => opened.verdict(),
        Err(error) => verdict_of(error, &job.file),
    }
}

/// A process that can do nothing but compute with its open files.
struct Sandboxed {
    restrictions: Vec<Restriction>,
    opened: Opened,
}

impl Sandboxed {
    fn enter() -> Result<Self, Verdict> {
        let failed = |message: String| Verdict::Storage { message };
        let inherited = sandbox::close_inherited_files();
        let ChildJob { file, canonical, schema, limits, budget } =
            serde_json::from_reader(std::io::stdin().lock())
                .map_err(|error| failed(format!("invalid job: {error}")))?;
        // The schema is the server's own.
        let schema = Schema::from_toml(&schema, Path::new("the round's schema"))
            .map_err(|error| failed(error.to_string()))?;
        let opened = Opened::new(&file, &canonical, schema, limits)
            .map_err(|error| verdict_of(error, &file))?;
        let mut restrictions = sandbox::enter(&budget)
            .map_err(|error| failed(format!("cannot set resource limits: {error}")))?;
        restrictions.insert(0, inherited);
        Ok(Self { restrictions, opened })
    }
}

/// A job whose files are open and not yet read.
struct Opened {
    /// Names in messages, and determines the format.
    path: PathBuf,
    file: File,
    canonical_path: PathBuf,
    canonical: File,
    schema: Schema,
    limits: ReadLimits,
}

impl Opened {
    fn new(
        path: &Path,
        canonical_path: &Path,
        schema: Schema,
        limits: SubmissionLimits,
    ) -> Result<Self, Error> {
        let (path, canonical_path) = (path.to_path_buf(), canonical_path.to_path_buf());
        let unreadable = |source| Error::Read { file: path.clone(), source };
        let file = File::open(&path).map_err(unreadable)?;
        let file_bytes = file.metadata().map_err(unreadable)?.len();
        let canonical = File::create(&canonical_path)
            .map_err(|source| Error::Write { file: canonical_path.clone(), source })?;
        let SubmissionLimits { rows, columns, .. } = limits;
        let limits = ReadLimits::new(rows, columns, decoded_limit(&limits, file_bytes));
        Ok(Self { path, file, canonical_path, canonical, schema, limits })
    }

    fn verdict(self) -> Verdict {
        let path = self.path.clone();
        match self.check() {
            Ok(verdict) => verdict,
            Err(error) => verdict_of(error, &path),
        }
    }

    fn check(self) -> Result<Verdict, Error> {
        let Self { path, file, canonical_path, canonical, schema, limits } = self;
        let table = (canonical, canonical_path.as_path());
        write_canonical((file, &path), &schema, limits, table).map(Verdict::Valid)
    }
}

fn verdict_of(error: Error, file: &Path) -> Verdict {
    // The path on the server means nothing to the client.
    let message = error.to_string().replace(&file.display().to_string(), "the file");
    match error {
        Error::Table { row, column, .. } if row.is_some() || column.is_some() => {
            Verdict::Value { message, row, column }
        }
        Error::Write { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
            Verdict::DiskFull
        }
        Error::Write { .. } => Verdict::Storage { message },
        // Read errors such as damaged gzip are the client's fault, because the file itself is readable.
        _ => Verdict::File { message },
    }
}
