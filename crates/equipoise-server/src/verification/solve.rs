//! Repeats the solve from the tables and compares all files bit for bit.
//!
//! A proxy may be the canonical table that the solver read, or the file that the client submitted. From the latter the
//! canonical table is made again, which also proves that the server did not swap it. Files are found by digest, whatever
//! their names.

mod input_files;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use equipoise_data::{DistinctRowCounter, ReadLimits, visit_proxy};
use tempfile::TempDir;

use super::Solve;
use super::check::{Checks, Problems};
use super::documents::Documents;
use crate::protocol::{Digest, ListedSubmission, Manifest};
use crate::round::{SolveInputs, write_results};
use crate::validator::{Job, Verdict, check_file};
use input_files::InputFiles;

pub use input_files::InputError;

/// The folders with the inputs of a solve.
#[derive(Debug, Clone, Copy)]
pub struct SolveFolders<'a> {
    /// One proxy per client: the canonical table, or the file that the client submitted.
    pub proxies: &'a Path,
    /// One root per client.
    pub roots: &'a Path,
}

/// Repeats the solve, and returns whether it ran to its end. The documents must have passed all other checks: file
/// names in the specification are trusted.
pub(super) fn check(
    documents: &Documents<'_>,
    solve: Solve<'_>,
    checks: &mut Checks,
) -> Result<bool, InputError> {
    let Solve { folders, memory, observer } = solve;
    let scratch = Scratch::new()?;
    let proxies = InputFiles::read(folders.proxies)?;
    let roots = InputFiles::read(folders.roots)?;
    for submission in &documents.list.submissions {
        let client = &submission.client;
        let root = documents.spec.roots.get(client).ok_or(InputError::NoRoot(client.clone()))?;
        let found = roots.find("the root", client, &[root.sha256])?;
        scratch.link(found, "roots", &root.file)?;

        // A canonical table is preferred; a client's file serves as well.
        let digests = [submission.canonical_sha256, submission.sha256];
        let found = proxies.find("the canonical table", client, &digests)?;
        let is_canonical = proxies.has(found, submission.canonical_sha256);
        let claim = format!("the table of `{client}` has the recorded rows");
        let problem = match is_canonical {
            true => {
                let table = scratch.link(found, "proxies", &format!("{client}.parquet"))?;
                count_problem(documents, submission, &table)
            }
            false => scratch.canonical_problem(documents, submission, found)?,
        };
        checks.add(claim, problem);
    }
    if checks.any_failed() {
        return Ok(false);
    }
    let inputs = SolveInputs {
        spec_json: std::str::from_utf8(documents.file("spec.json")).unwrap_or_default(),
        list: &documents.list,
        proxies: &scratch.path("proxies"),
        roots: &scratch.path("roots"),
        memory,
    };
    let results = scratch.path("results");
    if let Err(error) = write_results(&inputs, &results, observer) {
        checks.add("the solve can be repeated", Some(error.to_string()));
        return Ok(false);
    }
    for name in equipoise_defend::FILES {
        let path = results.join(name);
        let expected = std::fs::read(&path).map_err(|source| InputError::Io { path, source })?;
        let claim = format!("the repeated solve gives the same {name}, bit for bit");
        documents.compare(claim, name, &expected, checks);
    }
    Ok(true)
}

/// Checks a file that a client submitted: the table that the solver read must have exactly its rows.
pub(super) fn check_submitted(
    documents: &Documents<'_>,
    file: &Path,
    checks: &mut Checks,
) -> Result<(), InputError> {
    let failed = |source| InputError::Io { path: file.to_path_buf(), source };
    let (_, digest) = Digest::of_file(file).map_err(failed)?;
    let submissions = &documents.list.submissions;
    let Some(submission) = submissions.iter().find(|listed| listed.sha256 == digest) else {
        let problem = format!("no submission has its SHA-256, {digest}");
        checks.add(format!("{} was submitted", file.display()), Some(problem));
        return Ok(());
    };
    let problem = Scratch::new()?.canonical_problem(documents, submission, file)?;
    let claim = format!("the solver read exactly the rows that `{}` submitted", submission.client);
    checks.add(claim, problem);
    Ok(())
}

/// Compares the rows of a canonical table with the numbers in the list.
fn count_problem(
    documents: &Documents<'_>,
    submission: &ListedSubmission,
    table: &Path,
) -> Option<String> {
    let mut distinct = DistinctRowCounter::default();
    let visit = visit_proxy(table, &documents.schema, ReadLimits::NONE, |rows| {
        distinct.add(rows);
        Ok(())
    });
    match visit {
        Ok(rows) => rows_problem(submission, rows, distinct.count()),
        Err(error) => Some(error.to_string()),
    }
}

fn rows_problem(submission: &ListedSubmission, rows: u64, distinct: u64) -> Option<String> {
    let mut problems = Problems::default();
    let ListedSubmission { rows: listed, distinct_rows: listed_distinct, .. } = submission;
    problems.require(rows == *listed, || format!("it has {rows} rows, not {listed}"));
    problems.require(distinct == *listed_distinct, || {
        format!("{distinct} of its rows are distinct, not {listed_distinct}")
    });
    problems.into_option()
}

/// A folder for the inputs under the names that the solve expects, and for its results.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Result<Self, InputError> {
        let failed = |source| InputError::Io { path: std::env::temp_dir(), source };
        let scratch = Self(tempfile::tempdir().map_err(failed)?);
        for folder in ["proxies", "roots", "results", "submitted"] {
            std::fs::create_dir(scratch.path(folder)).map_err(failed)?;
        }
        Ok(scratch)
    }

    fn path(&self, folder: &str) -> PathBuf {
        self.0.path().join(folder)
    }

    fn link(&self, file: &Path, folder: &str, name: &str) -> Result<PathBuf, InputError> {
        let failed = |source| InputError::Io { path: file.to_path_buf(), source };
        let link = self.path(folder).join(name);
        symlink(file.canonicalize().map_err(failed)?, &link).map_err(failed)?;
        Ok(link)
    }

    /// Makes the canonical table of a submitted file again, and compares it with the recorded one.
    fn canonical_problem(
        &self,
        documents: &Documents<'_>,
        submission: &ListedSubmission,
        submitted: &Path,
    ) -> Result<Option<String>, InputError> {
        let client = &submission.client;
        let Ok(manifest) = Manifest::from_bytes(submission.manifest.as_bytes()) else {
            return Ok(Some("the manifest cannot be read".to_owned()));
        };
        let name = format!("{client}{}", manifest.media_type.extension());
        let job = Job {
            client: (documents.spec.round.clone(), client.clone()),
            file: self.link(submitted, "submitted", &name)?,
            canonical: self.path("proxies").join(format!("{client}.parquet")),
            schema: documents.schema.clone(),
            limits: documents.spec.limits,
        };
        let expected = submission.canonical_sha256;
        Ok(match check_file(&job) {
            Verdict::Valid(valid) if valid.canonical_sha256 != expected => Some(format!(
                "the file of `{client}` gives a canonical table with SHA-256 {}, but the log records {expected}",
                valid.canonical_sha256
            )),
            Verdict::Valid(valid) => rows_problem(submission, valid.rows, valid.distinct_rows),
            other => Some(format!("the file is not valid: {other:?}")),
        })
    }
}
