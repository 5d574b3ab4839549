//! Offline verification: do the published files follow from the log and the submissions?
//!
//! | module | what it checks |
//! | --- | --- |
//! | `signatures` | the statement's signature, the key that made it, the digest of every file |
//! | `log` | the audit log: an unbroken chain that tells the life of one round, up to this statement |
//! | `spec` | schema, settings, audience, roster, roots, minimum and deadline against the digest in the log |
//! | `submissions` | every client's signature and receipt, and the list that the round was closed with |
//! | `figures` | outcome.json, and everything that model, weights and report show of it |
//! | `solve` | optional: repeats the solve from the tables and compares all files bit for bit |
//!
//! All trust rests on the server's key: without a key from the coordinator, files can only be consistent, never
//! verified. A server that rewrites its whole log is exposed only by a receipt or a log head that
//! somebody kept.

mod check;
mod documents;
mod figures;
mod log;
mod signatures;
mod solve;
mod spec;
mod strict_json;
mod submissions;

use std::collections::BTreeMap;
use std::path::PathBuf;

use equipoise_core::Observer;
use serde::Serialize;

use crate::protocol::{ClientId, PublicKey, RoundId, SignedReceipt};
use check::Checks;
use documents::Documents;

pub use check::{Check, CheckResult};
pub use solve::{InputError, SolveFolders};

/// What the verifier trusts: input from sources other than the published files.
#[derive(Debug, Clone, Default)]
pub struct Trusted {
    /// The round that was asked for. Otherwise a server could answer with the files of another round.
    pub round: Option<RoundId>,
    /// The server's key.
    pub server_key: Option<PublicKey>,
    /// Receipts kept by clients.
    pub receipts: Vec<SignedReceipt>,
    /// Files that clients submitted, from which the canonical tables are made again.
    pub submitted: Vec<PathBuf>,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The round that the files are about, if the statement is readable.
    pub round: Option<RoundId>,
    /// The server's name, as the statement has it.
    pub audience: Option<String>,
    /// All checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// Whether there was a key to trust.
    pub key_trusted: bool,
    /// Number of receipts that were compared with the log.
    pub n_receipts: usize,
    /// Whether the solve was repeated.
    pub solve_repeated: bool,
    /// The clients whose tables the solve was repeated from, but whose files nobody compared with these tables.
    pub files_not_checked: Vec<ClientId>,
}

/// What is needed to repeat a solve.
pub struct Solve<'a> {
    /// The tables.
    pub folders: SolveFolders<'a>,
    /// Follows the progress.
    pub observer: &'a mut dyn Observer,
}

/// Verifies published files, keyed by name. The solve is repeated only if no check failed before.
pub fn verify(
    files: &BTreeMap<String, Vec<u8>>,
    trusted: &Trusted,
    solve: Option<Solve<'_>>,
) -> Result<Verification, InputError> {
    let mut checks = Checks::default();
    let documents = check_documents(files, trusted, &mut checks);
    let mut submitted = Vec::new();
    if let Some(documents) = &documents {
        for file in &trusted.submitted {
            submitted.extend(solve::check_submitted(documents, file, &mut checks)?);
        }
    }
    let mut repeated = None;
    if let (Some(documents), Some(solve), false) = (&documents, solve, checks.any_failed()) {
        repeated = solve::check(documents, solve, &mut checks)?;
    }
    let statement = documents.as_ref().map(|documents| &documents.statement.statement);
    Ok(Verification {
        round: statement.map(|statement| statement.round.clone()),
        audience: statement.map(|statement| statement.audience.clone()),
        checks: checks.into_list(),
        key_trusted: trusted.server_key.is_some(),
        n_receipts: trusted.receipts.len(),
        solve_repeated: repeated.is_some(),
        files_not_checked: repeated
            .unwrap_or_default()
            .into_iter()
            .filter(|client| !submitted.contains(client))
            .collect(),
    })
}

/// All checks of the documents alone. `None` if a file is missing or cannot be read.
fn check_documents<'a>(
    files: &'a BTreeMap<String, Vec<u8>>,
    trusted: &Trusted,
    checks: &mut Checks,
) -> Option<Documents<'a>> {
    let statement = documents::read_statement(files, checks)?;
    signatures::check(&statement, files, trusted, checks);
    let documents = Documents::read(files, statement, checks)?;
    log::check(&documents, checks);
    spec::check(&documents, checks);
    submissions::check(&documents, checks);
    figures::check(&documents, checks);
    for receipt in &trusted.receipts {
        submissions::check_kept_receipt(&documents, receipt, checks);
    }
    Some(documents)
}

impl Verification {
    /// Whether every check holds and there was a key to trust.
    pub fn is_verified(&self) -> bool {
        self.key_trusted && self.checks.iter().all(|check| check.result == CheckResult::Holds)
    }

    /// One sentence: what was proved and what was not, or why the files are not verified.
    pub fn conclusion(&self) -> String {
        let count = |result| self.checks.iter().filter(|check| check.result == result).count();
        let (failed, undecided) = (count(CheckResult::Fails), count(CheckResult::Undecided));
        let n_checks = self.checks.len();
        let mut problems = Vec::new();
        if failed > 0 {
            problems.push(format!("{failed} of {n_checks} checks failed"));
        }
        if undecided > 0 {
            problems.push(format!("{undecided} of {n_checks} checks could not be decided"));
        }
        if !self.key_trusted {
            problems.push("no key to trust; pass --server-key".to_owned());
        }
        if !problems.is_empty() {
            return format!("not verified: {}", problems.join("; "));
        }
        let receipts = match self.n_receipts {
            0 => "; no receipt was compared (use --receipt)",
            _ => "",
        };
        let round = match (&self.round, &self.audience) {
            (Some(round), Some(audience)) => format!("round {round} of {audience}: "),
            _ => String::new(),
        };
        let proof = match self.solve_repeated {
            true => {
                "the files follow from the log and, by a repeated solve, from the tables with the recorded digests"
            }
            false => {
                "the files follow from the log and the submissions' digests; the solve was not repeated (`equipoise verify --solve` does that)"
            }
        };
        let not_checked = self.not_checked();
        format!("verified: {round}{proof}{not_checked}{receipts}")
    }

    /// The clients whose tables may have other rows than their files.
    fn not_checked(&self) -> String {
        let clients: Vec<String> =
            self.files_not_checked.iter().map(|client| format!("`{client}`")).collect();
        match clients.as_slice() {
            [] => String::new(),
            [client] => {
                format!(
                    "; the file of {client} was not checked against its table (use --submitted)"
                )
            }
            _ => format!(
                "; the files of {} were not checked against their tables (use --submitted)",
                clients.join(", ")
            ),
        }
    }
}
