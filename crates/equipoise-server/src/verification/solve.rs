//! Repeats the solve from the tables and compares all files bit for bit.
//!
//! A proxy may be the canonical table that the solver read, or the file that the client submitted. From the latter the
//! canonical table is made again, which also proves that the server did not swap it. Files are found by digest, whatever
//! their names. They come from others, so the round's limits apply to them.

mod input_files;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use equipoise_data::{DistinctRowCounter, ReadLimits, Staged, visit_proxy};
use tempfile::TempDir;

use super::Solve;
use super::check::{Checks, Problem, Problems};
use super::documents::Documents;
use crate::protocol::{ClientId, Digest, ListedSubmission, Manifest, SubmissionLimits};
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

/// Repeats the solve. If it ran to its end, returns the clients whose tables were not made from their own files. The
/// documents must have passed all other checks: file names in the specification are trusted.
pub(super) fn check(
    documents: &Documents<'_>,
    solve: Solve<'_>,
    checks: &mut Checks,
) -> Result<Option<Vec<ClientId>>, InputError> {
    let Solve { folders, observer } = solve;
    let scratch = Scratch::new()?;
    let proxies = InputFiles::read(folders.proxies)?;
    let roots = InputFiles::read(folders.roots)?;
    let mut not_derived = Vec::new();
    for submission in &documents.list.submissions {
        let client = &submission.client;
        let root = documents.spec.roots.get(client).ok_or(InputError::NoRoot(client.clone()))?;
        let found = roots.find("the root", client, root.sha256)?;
        scratch.link(found, "roots", &root.file)?;

        let claim = format!("the table of `{client}` has the recorded rows");
        let canonical = proxies.get(submission.canonical_sha256);
        // The client's own file proves more, but another version cannot make the same table from it.
        let own = proxies
            .get(submission.sha256)
            .filter(|_| documents.is_from_this_version() || canonical.is_none());
        match own {
            Some(file) => {
                let problem = scratch.canonical_problem(documents, submission, file)?;
                checks.add_found(claim, problem);
            }
            None => {
                let digest = submission.canonical_sha256;
                let file = proxies.find("the canonical table", client, digest)?;
                let table = scratch.link(file, "proxies", &format!("{client}.parquet"))?;
                checks.add(claim, count_problem(documents, submission, &table));
                if digest != submission.sha256 {
                    not_derived.push(client.clone());
                }
            }
        }
    }
    if checks.any_failed() {
        return Ok(None);
    }
    let inputs = SolveInputs {
        spec_json: std::str::from_utf8(documents.file("spec.json")).unwrap_or_default(),
        list: &documents.list,
        proxies: &scratch.path("proxies"),
        roots: &scratch.path("roots"),
    };
    let results = scratch.path("results");
    if let Err(error) = write_results(&inputs, &results, observer) {
        checks.add("the solve can be repeated", Some(error.to_string()));
        return Ok(None);
    }
    for name in equipoise_report::defend::FILES {
        let path = results.join(name);
        let expected = std::fs::read(&path).map_err(|source| InputError::Io { path, source })?;
        let claim = format!("the repeated solve gives the same {name}, bit for bit");
        documents.compare(claim, name, &expected, checks);
    }
    Ok(Some(not_derived))
}

/// Checks a file that a client submitted: the table that the solver read must have exactly its rows. Returns the client.
pub(super) fn check_submitted(
    documents: &Documents<'_>,
    file: &Path,
    checks: &mut Checks,
) -> Result<Option<ClientId>, InputError> {
    let failed = |source| InputError::Io { path: file.to_path_buf(), source };
    let (_, digest) = Digest::of_file(file).map_err(failed)?;
    let submissions = &documents.list.submissions;
    let Some(submission) = submissions.iter().find(|listed| listed.sha256 == digest) else {
        let problem = format!("no submission has its SHA-256, {digest}");
        checks.add(format!("{} was submitted", file.display()), Some(problem));
        return Ok(None);
    };
    let problem = Scratch::new()?.canonical_problem(documents, submission, file)?;
    let claim = format!("the solver read exactly the rows that `{}` submitted", submission.client);
    checks.add_found(claim, problem);
    Ok(Some(submission.client.clone()))
}

/// Compares the rows of a canonical table with the numbers in the list.
fn count_problem(
    documents: &Documents<'_>,
    submission: &ListedSubmission,
    table: &Path,
) -> Option<String> {
    let mut distinct = DistinctRowCounter::default();
    // Not the ratio: a canonical table may be smaller than the file that it was made from.
    let SubmissionLimits { rows, columns, decoded_bytes, .. } = documents.spec.limits;
    let limits = ReadLimits::new(rows, columns, decoded_bytes);
    let visit = visit_proxy(table, &documents.schema, limits, |rows| {
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
struct Scratch(Staged<TempDir>);

impl Scratch {
    fn new() -> Result<Self, InputError> {
        let failed = |source| InputError::Io { path: std::env::temp_dir(), source };
        let scratch = Self(Staged::create(tempfile::tempdir).map_err(failed)?);
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

    /// Makes the canonical table of a submitted file again, and compares it with the recorded one. Another version of the
    /// program may write other bytes for the same rows, but not another number of rows.
    fn canonical_problem(
        &self,
        documents: &Documents<'_>,
        submission: &ListedSubmission,
        submitted: &Path,
    ) -> Result<Option<Problem>, InputError> {
        let client = &submission.client;
        let fails = |problem: String| Ok(Some(Problem::Fails(problem)));
        let Ok(manifest) = Manifest::from_bytes(submission.manifest.as_bytes()) else {
            return fails("the manifest cannot be read".to_owned());
        };
        let name = format!("{client}{}", manifest.media_type.extension());
        let job = Job {
            client: (documents.spec.round.clone(), client.clone()),
            file: self.link(submitted, "submitted", &name)?,
            canonical: self.path("proxies").join(format!("{client}.parquet")),
            schema: documents.schema.clone(),
            limits: documents.spec.limits,
        };
        let valid = match check_file(&job) {
            Verdict::Valid(valid) => valid,
            other => return fails(format!("the file is not valid: {other:?}")),
        };
        if let Some(problem) = rows_problem(submission, valid.rows, valid.distinct_rows) {
            return fails(problem);
        }
        let (found, expected) = (valid.canonical_sha256, submission.canonical_sha256);
        if found == expected {
            return Ok(None);
        }
        let problem = format!(
            "the file of `{client}` gives a canonical table with SHA-256 {found}, but the log records {expected}"
        );
        match documents.is_from_this_version() {
            true => fails(problem),
            false => {
                Ok(Some(Problem::Undecided(format!("{problem}. {}", documents.use_version()))))
            }
        }
    }
}
