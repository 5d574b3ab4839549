//! `equipoise round backup` and `round restore`.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_server::protocol::Digest;
use equipoise_server::store::{Backup, back_up, restore as restore_to};
use serde_json::{Value, json};

use crate::formatting::count;
use crate::output::{Answer, Output};

/// Back up a data directory, even while the server is running
///
/// Copies a consistent snapshot of the database, every file it refers to, and the server's key. Then runs the same
/// checks on the copy as a server does at startup, and lists all files with their digests in backup.json. Uploads in
/// progress are not included; their clients must submit again.
///
/// The backup contains the server's private key and the clients' proxies: protect it like the server itself. Keep the
/// printed digest somewhere else and pass it to `round restore --sha256`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round backup data -o backups/2027-02-01")]
pub(crate) struct BackupArgs {
    /// The server's data directory
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Folder for the backup; must be empty or not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Restore a data directory from a backup
///
/// Checks every file against the backup's list, then the database, audit logs, receipts and results as a server does
/// at startup. The directory is created only if all checks pass.
///
/// Submissions accepted after the backup was made are lost. Their clients must submit again, and will get new
/// receipts that differ from the old ones.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise round restore backups/2027-02-01 --data data
  equipoise serve --config server.toml")]
pub(crate) struct RestoreArgs {
    /// Folder with the backup
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// Data directory to create; must be empty or not exist
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Digest printed by `round backup`; the restore fails if it differs
    #[arg(long, value_name = "DIGEST")]
    sha256: Option<Digest>,
}

pub(crate) fn backup(args: &BackupArgs, output: &Output) -> anyhow::Result<Answer> {
    let (listing, digest) = back_up(&args.data, &args.output)?;
    output.result(&document(&args.output, &listing, Some(digest)), || {
        format!(
            "{}: {}\nSHA-256 of backup.json: {digest}\n",
            args.output.display(),
            describe(&listing)
        )
    })
}

pub(crate) fn restore(args: &RestoreArgs, output: &Output) -> anyhow::Result<Answer> {
    let listing = restore_to(&args.backup, &args.data, args.sha256)?;
    output.result(&document(&args.data, &listing, args.sha256), || {
        format!("{}: {}, as of {}\n", args.data.display(), describe(&listing), listing.at)
    })
}

fn document(path: &Path, listing: &Backup, sha256: Option<Digest>) -> Value {
    let (n_files, bytes) = (listing.files.len(), listing.total_bytes());
    json!({ "path": path, "rounds": listing.rounds, "n_files": n_files, "bytes": bytes, "sha256": sha256 })
}

fn describe(listing: &Backup) -> String {
    let (rounds, files) =
        (count(listing.rounds.len(), "round"), count(listing.files.len(), "file"));
    format!("{rounds}, {files}, {} bytes; all checks passed", listing.total_bytes())
}
