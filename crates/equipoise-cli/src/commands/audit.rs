//! `equipoise audit`: prints the log of a round, or compares two documents to detect a fork.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use clap::Args;
use equipoise_server::comparison::{Comparison, Evidence, Fork, Incomplete, NEEDED, compare};
use equipoise_server::protocol::{LOG_FILES, replay, verify_chain};
use serde_json::json;

use crate::files::read_text;
use crate::output::{Answer, Output};
use crate::round_client::read_public_key;

/// Print the audit log of a round, or compare two histories
///
/// Checks that the log is an unbroken hash chain and that its events are in a possible order, then prints them. To check
/// that the log was signed by the server, use `equipoise verify`.
///
/// With --compare, reports whether two documents of one server can belong to the same history. Each is a folder of
/// published files, an audit.jsonl, an audit-head.json, a receipt, or a file from `equipoise head`. If they contradict
/// each other, the server has shown different histories to different people: a fork. Exit code 0 means that they are
/// consistent, 1 a fork, and 2 that they cannot be compared, or not completely.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise audit spring
  equipoise audit --compare spring-north.receipt.json spring
  equipoise audit --compare mine.head.json theirs.head.json \\
      --server-key server.pub")]
pub(crate) struct AuditArgs {
    /// Folder with the published files, or the audit.jsonl file itself
    #[arg(value_name = "PATH", required_unless_present = "compare")]
    path: Option<PathBuf>,
    /// Compare two folders, logs, heads or receipts
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "path")]
    compare: Option<Vec<PathBuf>>,
    /// The server's public key, as received from the coordinator; refuse documents of other servers
    #[arg(long, value_name = "FILE", requires = "compare")]
    server_key: Option<PathBuf>,
}

pub(crate) fn run(args: &AuditArgs, output: &Output) -> anyhow::Result<Answer> {
    match (args.compare.as_deref(), &args.path) {
        (Some([a, b]), _) => run_compare(a, b, args.server_key.as_deref(), output),
        (_, Some(path)) => print_log(path, output),
        _ => bail!("--compare takes two paths"),
    }
}

fn print_log(path: &Path, output: &Output) -> anyhow::Result<Answer> {
    let path = match path.is_dir() {
        true => path.join("audit.jsonl"),
        false => path.to_path_buf(),
    };
    let text = read_text(&path)?;
    let events = verify_chain(text.lines()).with_context(|| path.display().to_string())?;
    let events: Vec<_> = events.iter().map(|(event, _)| event).collect();
    replay(events.iter().copied(), None).with_context(|| path.display().to_string())?;
    output.result(&events, || {
        let mut text = String::new();
        for event in &events {
            text += &format!("{:>4}  {}  {}\n", event.seq, event.at, event.kind);
        }
        text + "the hash chain is intact; `equipoise verify` checks that the server signed it\n"
    })
}

fn run_compare(
    a: &Path,
    b: &Path,
    server_key: Option<&Path>,
    output: &Output,
) -> anyhow::Result<Answer> {
    let evidence = [read_evidence(a)?, read_evidence(b)?];
    if let Some(file) = server_key {
        let trusted = read_public_key(file)?;
        for (path, evidence) in [a, b].into_iter().zip(&evidence) {
            let matches = evidence.server_key.as_ref().is_some_and(|key| key.same_key(&trusted));
            ensure!(
                matches,
                "{}: is not from the server with the key in --server-key",
                path.display()
            );
        }
    }
    let [in_a, in_b] = &evidence;
    let comparison = compare(in_a, in_b);
    let (verdict, text) = match &comparison {
        Comparison::Fork(fork) => {
            let key = in_a.server_key.as_ref().or(in_b.server_key.as_ref());
            return print_fork(fork, key.map(ToString::to_string), output);
        }
        Comparison::Incomplete(Incomplete { agreeing, not_compared }) => bail!(
            "A and B cannot be compared completely: {} {}, but these logs could not be compared: {}. \
             {NEEDED}",
            agreeing.join(", "),
            if agreeing.len() == 1 { "agrees" } else { "agree" },
            not_compared.join(", ")
        ),
        Comparison::NotComparable(reason) => bail!("A and B cannot be compared: {reason}"),
        Comparison::Same => ("same", "the same history"),
        Comparison::AIsBeginningOfB => ("a_is_beginning_of_b", "A is the beginning of B"),
        Comparison::BIsBeginningOfA => ("b_is_beginning_of_a", "B is the beginning of A"),
        Comparison::Consistent => ("consistent", "they agree as far as both go"),
    };
    output.result(&json!({ "verdict": verdict }), || format!("consistent: {text}\n"))
}

fn print_fork(fork: &Fork, key: Option<String>, output: &Output) -> anyhow::Result<Answer> {
    let Fork { log, position, is_first, a, b, proof } = fork;
    let document = json!({
        "verdict": "fork",
        "log": log,
        "position": position,
        "is_first_difference": is_first,
        "a": a,
        "b": b,
        "proof": proof,
        "server_key": key,
    });
    output.result(&document, || {
        let place = match is_first {
            true => "The first difference",
            false => "They differ here, and perhaps earlier",
        };
        let evidence = match proof.is_empty() {
            true => "At least one of them is not signed by the server, so this does not prove who changed it.\n".into(),
            false => format!(
                "Both are signed with the key {}. This proves that the server, or someone with its private key, signed two \
                 contradicting histories (equivocation). Restoring an old backup also has this effect. Keep these files as \
                 evidence:\n{}",
                key.as_deref().unwrap_or("of the server"),
                proof.iter().map(|file| format!("  {file}\n")).collect::<String>()
            ),
        };
        format!("FORK: A and B show different histories of {log}\n{place}:\n  A  {a}\n  B  {b}\n{evidence}")
    })?;
    Ok(Answer::No)
}

/// Reads a folder or a file.
fn read_evidence(path: &Path) -> anyhow::Result<Evidence> {
    let name = path.display().to_string();
    let evidence = if path.is_dir() {
        let mut files = BTreeMap::new();
        for file in LOG_FILES.into_iter().chain(["statement.json"]) {
            let file_path = path.join(file);
            if file_path.exists() {
                files.insert(file.to_owned(), read_text(&file_path)?);
            }
        }
        Evidence::of_folder(&name, &files)
    } else {
        Evidence::of_file(&name, &read_text(path)?)
    };
    evidence.map_err(|problem| anyhow!(problem))
}
