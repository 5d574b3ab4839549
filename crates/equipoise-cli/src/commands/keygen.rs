//! `equipoise keygen`: a client's signing key.

use std::path::{Path, PathBuf};

use clap::Args;
use equipoise_data::{uninterrupted, write_atomically};
use equipoise_server::protocol::{ClientId, PrivateKey};
use equipoise_server::store::{random_bytes, write_private};
use serde::Serialize;

use crate::files::refuse_existing;
use crate::output::{Answer, Output};

/// Create a key pair for signing submissions
///
/// Writes NAME.key, the private key, which only you can read and which never leaves this machine, and
/// NAME.pub, the public key, a single line to send to the coordinator. Existing keys are never overwritten.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise keygen north

Send north.pub to the coordinator, and confirm its second field with them over the phone.")]
pub(crate) struct KeygenArgs {
    /// Name of the client in the round
    #[arg(value_name = "NAME")]
    name: ClientId,
    /// Folder to write both files to
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

/// The files of a key pair, and the public key itself.
#[derive(Serialize)]
pub(crate) struct KeyPair {
    private_key: PathBuf,
    public_key: PathBuf,
    line: String,
}

pub(crate) fn run(args: &KeygenArgs, output: &Output) -> anyhow::Result<Answer> {
    let pair = create(&args.name, &args.output)?;
    output.result(&pair, || {
        format!(
            "private key: {} (keep it secret)\npublic key:  {} (send it to the coordinator)\n{}\n",
            pair.private_key.display(),
            pair.public_key.display(),
            pair.line
        )
    })
}

/// Creates a key pair in a folder.
pub(crate) fn create(name: &ClientId, folder: &Path) -> anyhow::Result<KeyPair> {
    let private_key = folder.join(format!("{name}.key"));
    let public_key = folder.join(format!("{name}.pub"));
    for path in [&private_key, &public_key] {
        refuse_existing(path)?;
    }
    let key = PrivateKey::from_seed(name.clone(), random_bytes()?);
    let line = key.public().to_string();
    // One half without the other is of no use.
    uninterrupted(|| {
        write_private(&private_key, key.to_line().as_bytes())?;
        write_atomically(&public_key, false, |out| writeln!(out, "{line}"))?;
        Ok(KeyPair { private_key, public_key, line })
    })
}
