//! `equipoise model`: downloads a published round and verifies it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_core::describe_verdict;
use equipoise_data::{OutputFolder, outcome};
use equipoise_server::verification::{Trusted, verify};

use crate::commands::verify::{TrustArgs, file_names, print_verification};
use crate::files::refuse_existing;
use crate::formatting::count;
use crate::output::{Answer, Output};
use crate::round_client::{Connection, ServerArgs};

/// Download and verify a published round
///
/// Fetches the model, outcome, report, specification, list of submissions, statement and audit log into a new folder,
/// and verifies them like `equipoise verify`. If they are not verified, nothing is written and the exit code is 1.
///
/// Verification needs the server's public key. The key must not come from the server itself, so ask the coordinator for
/// it.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise model --server https://round.example.org:8443 --round spring \\
      --server-key server.pub --receipt spring-north.receipt.json -o spring")]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    trust: TrustArgs,
    /// Folder to write to; must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Write the folder even if the files are not verified, for example to keep them as evidence
    ///
    /// The exit code is still 1.
    #[arg(long)]
    unverified: bool,
    /// Wait until the round is published or has failed
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(args: &ModelArgs, output: &Output) -> anyhow::Result<Answer> {
    let trusted = Trusted { round: Some(args.server.round.clone()), ..args.trust.read()? };
    refuse_existing(&args.output)?;
    let folder = OutputFolder::create(&args.output, false)?;
    let connection = Connection::new(&args.server)?;
    if args.wait {
        connection.wait_for_end()?;
    }
    let mut files = BTreeMap::new();
    for name in file_names() {
        files.insert(name.to_owned(), connection.get_bytes(&format!("/files/{name}"))?);
    }
    let verification = verify(&files, &trusted, None)?;
    let keep = verification.is_verified() || args.unverified;
    if keep {
        for (name, content) in &files {
            let path = folder.path().join(name);
            std::fs::write(&path, content).with_context(|| path.display().to_string())?;
        }
        folder.commit()?;
    }
    let answer = print_verification(&verification, keep.then_some(&args.output), output)?;
    if verification.is_verified() {
        print_verdict(&files, output);
    }
    output.note(match (keep, answer) {
        (true, Answer::Done) => format!("wrote {}", args.output.display()),
        (true, Answer::No) => format!("wrote {}, which is not verified", args.output.display()),
        (false, _) => "nothing was written; --unverified keeps the files anyway".to_owned(),
    });
    Ok(answer)
}

/// Says whether the model meets its requirements: a verified model need not be a good one.
fn print_verdict(files: &BTreeMap<String, Vec<u8>>, output: &Output) {
    let text = files.get("outcome.json").and_then(|content| std::str::from_utf8(content).ok());
    let outcome = text.and_then(|text| outcome::from_json(text, "outcome.json".as_ref()).ok());
    let Some(outcome) = outcome else { return };
    if let Some(verdict) = describe_verdict(&outcome.judgements, "this root") {
        output.note(format!("the verdict on the model: {verdict}"));
    }
    if !outcome.warnings.is_empty() {
        output.note(format!(
            "{} about the model: see report.html",
            count(outcome.warnings.len(), "warning")
        ));
    }
}
