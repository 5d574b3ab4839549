//! `equipoise round backup` and `round restore`.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_server::protocol::Digest;
use equipoise_server::store::{Backup, back_up, restore as restore_to};
use serde::Serialize;

use crate::answer::Answer;
use crate::figures::count;
use crate::output::Output;

/// Copy a data directory, also while the server runs
///
/// Copies the database as it is at one moment, every file that it speaks of, and the server's key; checks the
/// copy as a server does when it starts; and lists all files by their digests in backup.json. Uploads that
/// are under way are left out: their clients send again.
///
/// Whoever has the back-up has the server's private key and the clients' proxies: keep it as you keep the
/// server. Note the digest that is printed elsewhere; `round restore --sha256` asks for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round backup data -o backups/2027-02-01")]
pub(crate) struct BackupArgs {
    /// The server's data directory
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Folder for the back-up; must not be there yet, or be empty
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Make a data directory of a back-up
///
/// Checks every file by the back-up's list, then database, audit logs, receipts and results as a server does
/// when it starts. The directory appears only if all of it holds.
///
/// What was accepted after the back-up was made is not in it. Its clients have receipts, and must submit
/// again; the new receipts differ from the old ones.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round restore backups/2027-02-01 --data data
  equipoise serve --config server.toml")]
pub(crate) struct RestoreArgs {
    /// The back-up
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// The data directory; must not be there yet, or be empty
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Digest that `round backup` printed
    #[arg(long, value_name = "DIGEST")]
    sha256: Option<Digest>,
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    rounds: &'a [equipoise_server::protocol::Name],
    n_files: usize,
    bytes: u64,
    sha256: Option<Digest>,
}

/// Runs `round backup`.
pub(crate) fn backup(args: &BackupArgs, output: &Output) -> anyhow::Result<Answer> {
    let (made, digest) = back_up(&args.data, &args.output)?;
    output.result(&document(&args.output, &made, Some(digest)), || {
        format!("{}: {}\nSHA-256 of its list: {digest}\n", args.output.display(), words(&made))
    })?;
    Ok(Answer::Done)
}

/// Runs `round restore`.
pub(crate) fn restore(args: &RestoreArgs, output: &Output) -> anyhow::Result<Answer> {
    let made = restore_to(&args.backup, &args.data, args.sha256)?;
    output.result(&document(&args.data, &made, args.sha256), || {
        format!("{}: {}, as of {}\n", args.data.display(), words(&made), made.at)
    })?;
    Ok(Answer::Done)
}

fn document<'a>(path: &'a Path, made: &'a Backup, sha256: Option<Digest>) -> Document<'a> {
    let (n_files, bytes) = (made.files.len(), made.total_bytes());
    Document { path, rounds: &made.rounds, n_files, bytes, sha256 }
}

fn words(made: &Backup) -> String {
    let (rounds, files) = (count(made.rounds.len(), "round"), count(made.files.len(), "file"));
    format!("{rounds}, {files}, {} bytes, all checked", made.total_bytes())
}
