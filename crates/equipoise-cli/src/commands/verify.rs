//! `equipoise model`, `verify` and `audit`: what was published, and whether to believe it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use equipoise_data::OutputFolder;
use equipoise_server::protocol::{EventKind, SignedReceipt, verify_chain};
use equipoise_server::round::{LOG_FILES, PUBLISHED_FILES};
use equipoise_server::verification::{Check, Trusted, verify};
use serde::Serialize;

use crate::answer::Answer;
use crate::output::Output;
use crate::round_client::{Connection, ServerArgs, read_public_key};

/// Download a published round, and verify it
///
/// Fetches model, outcome, report, submissions, settings, statement and audit log into a new folder, and checks
/// them as `equipoise verify` does. Nothing is kept if anything is wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise model --server https://round.example.org:8443 --round spring --receipt spring-north.receipt.json -o spring")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    trust: TrustArgs,
    /// Folder to write to; it must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Check published files offline
///
/// From the files alone: the statement's signature, the digest of every file, the chain of the audit log,
/// every client's signature and receipt, and that outcome and submissions belong together. Exit code 1 means
/// that something does not hold.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise verify spring --server-key server.pub
  equipoise verify spring --receipt spring-north.receipt.json")]
pub(crate) struct VerifyArgs {
    /// Folder with the published files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    trust: TrustArgs,
}

/// Read the audit log of a published round
///
/// Prints who did what when, after checking that the log is one unbroken chain.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise audit spring")]
pub(crate) struct AuditArgs {
    /// Folder with the published files, or the log itself
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

#[derive(Debug, Args)]
struct TrustArgs {
    /// The server's public key, got from the coordinator
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// A receipt that you kept; may be given several times
    #[arg(long, value_name = "FILE")]
    receipt: Vec<PathBuf>,
}

impl TrustArgs {
    fn read(&self) -> anyhow::Result<Trusted> {
        let server_key = self.server_key.as_deref().map(read_public_key).transpose()?;
        let receipts = self.receipt.iter().map(|path| read_receipt(path));
        Ok(Trusted { server_key, receipts: receipts.collect::<anyhow::Result<_>>()? })
    }
}

fn read_receipt(path: &Path) -> anyhow::Result<SignedReceipt> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| format!("{}: is no receipt", path.display()))
}

#[derive(Serialize)]
struct Document<'a> {
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a Path>,
    checks: &'a [Check],
}

/// Runs `model`.
pub(crate) fn run_model(args: &ModelArgs, output: &Output) -> anyhow::Result<Answer> {
    let trusted = args.trust.read()?;
    let folder = OutputFolder::create(&args.output, false)?;
    let connection = Connection::new(&args.server)?;
    let mut files = BTreeMap::new();
    for name in names() {
        files.insert(name.to_owned(), connection.get_bytes(&format!("/files/{name}"))?);
    }
    let checks = verify(&files, &trusted);
    let verified = checks.iter().all(|check| check.holds);
    if verified {
        for (name, content) in &files {
            let path = folder.path().join(name);
            std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        }
        folder.commit()?;
        output.note(format!("wrote {}", args.output.display()));
    }
    let path = verified.then_some(args.output.as_path());
    output.result(&Document { verified, path, checks: &checks }, || in_words(&checks))?;
    Ok(Answer::holds(verified))
}

/// Runs `verify`.
pub(crate) fn run_verify(args: &VerifyArgs, output: &Output) -> anyhow::Result<Answer> {
    let trusted = args.trust.read()?;
    let mut files = BTreeMap::new();
    for name in names() {
        match std::fs::read(args.folder.join(name)) {
            Ok(content) => {
                files.insert(name.to_owned(), content);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.folder.is_dir() => {}
            Err(error) => {
                return Err(error).with_context(|| args.folder.join(name).display().to_string());
            }
        }
    }
    let checks = verify(&files, &trusted);
    let verified = checks.iter().all(|check| check.holds);
    output.result(&Document { verified, path: Some(&args.folder), checks: &checks }, || {
        in_words(&checks)
    })?;
    Ok(Answer::holds(verified))
}

/// Runs `audit`.
pub(crate) fn run_audit(args: &AuditArgs, output: &Output) -> anyhow::Result<Answer> {
    let path = match args.path.is_dir() {
        true => args.path.join("audit.jsonl"),
        false => args.path.clone(),
    };
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let events = verify_chain(text.lines()).with_context(|| path.display().to_string())?;
    let document: Vec<_> = events.iter().map(|(event, _)| event).collect();
    output.result(&document, || {
        let line = |event: &&equipoise_server::protocol::Event| {
            format!("{:>4}  {}  {}\n", event.seq, event.at, event_in_words(&event.kind))
        };
        document.iter().map(line).collect::<String>()
            + "the chain is whole; whether the server made it is for `equipoise verify`\n"
    })?;
    Ok(Answer::Done)
}

fn names() -> impl Iterator<Item = &'static str> {
    PUBLISHED_FILES.into_iter().chain(["statement.json"]).chain(LOG_FILES)
}

fn in_words(checks: &[Check]) -> String {
    let line = |check: &Check| {
        let mark = if check.holds { "ok" } else { "NO" };
        let detail = match check.detail.as_str() {
            "" => String::new(),
            detail => format!(" ({detail})"),
        };
        format!("{mark}  {}{detail}\n", check.claim)
    };
    let failed = checks.iter().filter(|check| !check.holds).count();
    let verdict = match failed {
        0 => "verified\n".to_owned(),
        _ => format!("NOT verified: {failed} of {} checks do not hold\n", checks.len()),
    };
    checks.iter().map(line).collect::<String>() + &verdict
}

fn event_in_words(kind: &EventKind) -> String {
    match kind {
        EventKind::Created { roster, schema_sha256, .. } => {
            let names: Vec<&str> = roster.iter().map(|key| key.name().as_str()).collect();
            format!("set up for {} with schema {schema_sha256}", names.join(", "))
        }
        EventKind::Opened => "opened".into(),
        EventKind::Accepted { client, sha256, rows, distinct_rows, .. } => {
            format!(
                "accepted from {client}: {rows} rows, {distinct_rows} different, SHA-256 {sha256}"
            )
        }
        EventKind::KeyRevoked { client } => format!("the key of {client} was revoked"),
        EventKind::Closed { by, n_submissions, absent, .. } => {
            let names: Vec<&str> = absent.iter().map(|name| name.as_str()).collect();
            let missing = match names.as_slice() {
                [] => String::new(),
                names => format!("; nothing came from {}", names.join(", ")),
            };
            format!("closed by {} with {n_submissions} submissions{missing}", by.replace('_', " "))
        }
        EventKind::Solving => "the solve began".into(),
        EventKind::Published { statement_sha256, solve_seconds } => {
            format!("published after {solve_seconds:.2} s, statement {statement_sha256}")
        }
        EventKind::Failed { reason } => format!("failed: {reason}"),
        EventKind::Aborted { reason } => format!("aborted: {reason}"),
    }
}
