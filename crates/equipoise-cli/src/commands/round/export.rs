//! `equipoise round export`.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::protocol::RoundId;
use equipoise_server::store::{ExportedFile, export_inputs};
use serde_json::json;

use crate::files::refuse_existing;
use crate::formatting::count;
use crate::output::{Answer, Output};

/// Export the tables of a closed round, so that an auditor can repeat its solve
///
/// Copies the canonical table and the root of every client that submitted to DIR/proxies and DIR/roots. Works while the
/// server is running. The auditor passes both folders to `equipoise verify --solve`.
///
/// The roots are raw rows and the proxies are what clients sent in confidence: only you can read the copies, and whether
/// an auditor may is for the consortium to decide.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round export --data data --round spring -o export
  equipoise verify spring --server-key data/server.pub \\
      --solve --proxies export/proxies --trusted export/roots")]
pub(crate) struct ExportArgs {
    /// The server's data directory
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Name of the round
    #[arg(long, value_name = "NAME")]
    round: RoundId,
    /// Folder to write to; must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn run(args: &ExportArgs, output: &Output) -> anyhow::Result<Answer> {
    refuse_existing(&args.output)?;
    let files = export_inputs(&args.data, &args.round, &args.output)?;
    let listed = files.iter().map(|ExportedFile { client, path, sha256 }| {
        json!({ "client": client, "path": path, "sha256": sha256 })
    });
    let document =
        json!({ "round": args.round, "path": args.output, "files": listed.collect::<Vec<_>>() });
    output.result(&document, || {
        let mut text = String::new();
        for ExportedFile { path, sha256, .. } in &files {
            text += &format!("{sha256}  {}\n", path.display());
        }
        text + &format!("{}: {}\n", args.output.display(), count(files.len(), "file"))
    })
}
