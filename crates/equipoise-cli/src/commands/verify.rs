//! `equipoise verify`: do the published files of a round follow from its submissions?

mod report;
mod trust;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use equipoise_server::protocol::{LOG_FILES, PUBLISHED_FILES};
use equipoise_server::verification::{Solve, SolveFolders, verify};

use crate::output::{Answer, Output};
use crate::progress::Bar;

pub(crate) use report::print_verification;
pub(crate) use trust::TrustArgs;

/// Verify offline that the published files follow from the submissions
///
/// Checks that the server signed every file; that the audit log is a possible history of the round; that schema,
/// settings, roster, roots, minimum and deadline are those fixed when the round was created; that every client signed
/// its submission; and that model, weights and report show exactly the figures of the outcome.
///
/// With --solve, also repeats the solve and compares every file bit for bit. This proves that the model follows from the
/// tables. The coordinator exports the tables with `equipoise round export`.
///
/// Exit code 1 means "not verified": a check failed, or there was no key to trust.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise verify spring --server-key server.pub
  equipoise verify spring --server-key server.pub \\
      --receipt spring-north.receipt.json --submitted north.parquet
  equipoise verify spring --server-key server.pub \\
      --solve --proxies export/proxies --trusted export/roots")]
pub(crate) struct VerifyArgs {
    /// Folder with the published files
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    trust: TrustArgs,
    /// Repeat the solve and compare the results; needs --proxies and --trusted
    #[arg(long, requires_all = ["proxies", "trusted"])]
    solve: bool,
    /// Folder with the canonical table of each client, or the file that it submitted; names do not matter
    #[arg(long, value_name = "DIR", requires = "solve")]
    proxies: Option<PathBuf>,
    /// Folder with the trusted rows of each client
    #[arg(long, value_name = "DIR", requires = "solve")]
    trusted: Option<PathBuf>,
}

pub(crate) fn run(args: &VerifyArgs, output: &Output) -> anyhow::Result<Answer> {
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
    let verification = {
        let mut bar = Bar::new(output);
        let folders = args.proxies.as_deref().zip(args.trusted.as_deref());
        let solve = folders.map(|(proxies, roots)| Solve {
            folders: SolveFolders { proxies, roots },
            observer: &mut bar,
        });
        verify(&files, &trusted, solve)?
    };
    print_verification(&verification, Some(&args.folder), output)
}

/// Names of all files of a published round.
pub(crate) fn file_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED_FILES.into_iter().chain(["statement.json"]).chain(LOG_FILES)
}
