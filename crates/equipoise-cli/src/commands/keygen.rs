//! `equipoise keygen`: a client's key, made where it stays.

use std::path::PathBuf;

use clap::Args;
use equipoise_data::{check_output, write_atomically};
use equipoise_server::protocol::{Name, PrivateKey};
use equipoise_server::store::{random_bytes, write_private};
use serde::Serialize;

use crate::answer::Answer;
use crate::output::Output;

/// Make a key to sign submissions with
///
/// Writes NAME.key, the private key, which only you can read and which never leaves this machine, and
/// NAME.pub, one line that you send to the coordinator. Neither is ever overwritten.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise keygen north
  # send north.pub to the coordinator, and read its second word to each other over the phone")]
pub(crate) struct KeygenArgs {
    /// The client, as the round will call it
    #[arg(value_name = "NAME")]
    name: Name,
    /// Folder for both files
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Document {
    private_key: PathBuf,
    public_key: PathBuf,
    line: String,
}

/// Runs the command.
pub(crate) fn run(args: &KeygenArgs, output: &Output) -> anyhow::Result<Answer> {
    let document = make_key(&args.name, &args.output)?;
    output.result(&document, || {
        format!(
            "{}: keep it to yourself\n{}: send it to the coordinator\n{}\n",
            document.private_key.display(),
            document.public_key.display(),
            document.line
        )
    })?;
    Ok(Answer::Done)
}

fn make_key(name: &Name, folder: &std::path::Path) -> anyhow::Result<Document> {
    let private_key = folder.join(format!("{name}.key"));
    let public_key = folder.join(format!("{name}.pub"));
    for path in [&private_key, &public_key] {
        check_output(path, false)?;
    }
    let key = PrivateKey::from_seed(name.clone(), random_bytes()?);
    let line = key.public().to_string();
    write_private(&private_key, key.to_line().as_bytes())?;
    write_atomically(&public_key, false, |out| writeln!(out, "{line}"))?;
    Ok(Document { private_key, public_key, line })
}

/// Makes a key pair in a folder; gives the public key's file.
pub(crate) fn make(name: &Name, folder: &std::path::Path) -> anyhow::Result<PathBuf> {
    Ok(make_key(name, folder)?.public_key)
}
