//! `equipoise model`, `verify` and `audit`: the published files of a round, and whether they can be trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use equipoise_data::OutputFolder;
use equipoise_server::protocol::{CloseReason, EventKind, Name, PublicKey, verify_chain};
use equipoise_server::protocol::{LOG_FILES, PUBLISHED_FILES};
use equipoise_server::verification::{Check, Trusted, verify};
use serde::Serialize;

use crate::files::{read_text, refuse_existing};
use crate::formatting::count;
use crate::output::{Answer, Output};
use crate::round_client::{Connection, ServerArgs, read_public_key};

/// Download and verify a published round
///
/// Fetches the model, outcome, report, list of submissions, settings, statement and audit log into a new folder, and
/// verifies them like `equipoise verify`. If any check fails, nothing is written and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise model --server https://round.example.org:8443 --round spring \\
      --receipt spring-north.receipt.json -o spring")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    trust: TrustArgs,
    /// Folder to write to; must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Verify published files offline
///
/// Checks the statement's signature, the digest of every file, the hash chain of the audit log, every client's
/// signature and receipt, and that the outcome belongs to the submissions. Exit code 1 means that a check failed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise verify spring --server-key server.pub
  equipoise verify spring --receipt spring-north.receipt.json")]
pub(crate) struct VerifyArgs {
    /// Folder with the published files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    trust: TrustArgs,
}

/// Print the audit log of a published round
///
/// Checks that the log is an unbroken hash chain, then prints its events in order. To check that the log was signed by
/// the server, use `equipoise verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise audit spring")]
pub(crate) struct AuditArgs {
    /// Folder with the published files, or the audit.jsonl file itself
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

#[derive(Debug, Args)]
struct TrustArgs {
    /// The server's public key, as received from the coordinator
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// A receipt that the log must contain; may be repeated
    #[arg(long, value_name = "FILE")]
    receipt: Vec<PathBuf>,
}

impl TrustArgs {
    fn read(&self) -> anyhow::Result<Trusted> {
        let server_key = self.server_key.as_deref().map(read_public_key).transpose()?;
        let receipts = self.receipt.iter().map(|path| {
            serde_json::from_str(&read_text(path)?)
                .with_context(|| format!("{} is not a receipt", path.display()))
        });
        Ok(Trusted { server_key, receipts: receipts.collect::<anyhow::Result<_>>()? })
    }
}

#[derive(Serialize)]
struct Document<'a> {
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a Path>,
    checks: &'a [Check],
}

pub(crate) fn run_model(args: &ModelArgs, output: &Output) -> anyhow::Result<Answer> {
    let trusted = args.trust.read()?;
    refuse_existing(&args.output)?;
    let folder = OutputFolder::create(&args.output, false)?;
    let connection = Connection::new(&args.server)?;
    let mut files = BTreeMap::new();
    for name in file_names() {
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
    print_checks(&checks, verified.then_some(&args.output), output)
}

pub(crate) fn run_verify(args: &VerifyArgs, output: &Output) -> anyhow::Result<Answer> {
    let trusted = args.trust.read()?;
    let mut files = BTreeMap::new();
    for name in file_names() {
        let path = args.folder.join(name);
        // A missing file is left to the checks; a missing folder is an error.
        if path.exists() || !args.folder.is_dir() {
            let content = std::fs::read(&path);
            let content = content.with_context(|| format!("{}: cannot be read", path.display()))?;
            files.insert(name.to_owned(), content);
        }
    }
    print_checks(&verify(&files, &trusted), Some(&args.folder), output)
}

fn file_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED_FILES.into_iter().chain(["statement.json"]).chain(LOG_FILES)
}

fn print_checks(
    checks: &[Check],
    path: Option<&PathBuf>,
    output: &Output,
) -> anyhow::Result<Answer> {
    let n_failed = checks.iter().filter(|check| !check.holds).count();
    let verified = n_failed == 0;
    let document = Document { verified, path: path.map(PathBuf::as_path), checks };
    output.result(&document, || {
        let mut text = String::new();
        for Check { claim, holds, detail } in checks {
            let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
            text += &format!("{}  {claim}{detail}\n", if *holds { "ok" } else { "FAILED" });
        }
        text + &match verified {
            true => "verified\n".to_owned(),
            false => format!("NOT verified: {n_failed} of {} checks failed\n", checks.len()),
        }
    })?;
    Ok(Answer::holds(verified))
}

pub(crate) fn run_audit(args: &AuditArgs, output: &Output) -> anyhow::Result<Answer> {
    let path = match args.path.is_dir() {
        true => args.path.join("audit.jsonl"),
        false => args.path.clone(),
    };
    let text = read_text(&path)?;
    let events = verify_chain(text.lines()).with_context(|| path.display().to_string())?;
    let events: Vec<_> = events.iter().map(|(event, _)| event).collect();
    output.result(&events, || {
        let mut text = String::new();
        for event in &events {
            text += &format!("{:>4}  {}  {}\n", event.seq, event.at, describe(&event.kind));
        }
        text + "the hash chain is intact; `equipoise verify` checks that the server signed it\n"
    })
}

fn describe(event: &EventKind) -> String {
    match event {
        EventKind::Created { roster, schema_sha256, .. } => {
            let clients = join(roster.iter().map(PublicKey::name));
            format!("created for {clients} with schema {schema_sha256}")
        }
        EventKind::Opened => "opened".into(),
        EventKind::Accepted { client, sha256, rows, distinct_rows, .. } => {
            format!(
                "accepted from {client}: {rows} rows, {distinct_rows} distinct, SHA-256 {sha256}"
            )
        }
        EventKind::KeyRevoked { client } => format!("key of {client} revoked"),
        EventKind::Closed { by, n_submissions, absent, .. } => {
            let submissions = count(*n_submissions as usize, "submission");
            let absent = match join(absent) {
                names if names.is_empty() => names,
                names => format!("; none from {names}"),
            };
            let reason = match by {
                CloseReason::Command => "command",
                CloseReason::Deadline => "deadline",
                CloseReason::FullRoster => "full roster",
            };
            format!("closed ({reason}) with {submissions}{absent}")
        }
        EventKind::Solving => "solve started".into(),
        EventKind::Published { statement_sha256, solve_seconds } => {
            format!("published after {solve_seconds:.2} s, statement {statement_sha256}")
        }
        EventKind::Failed { reason } => format!("failed: {reason}"),
        EventKind::Aborted { reason } => format!("aborted: {reason}"),
    }
}

fn join<'a>(names: impl IntoIterator<Item = &'a Name>) -> String {
    names.into_iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}
