//! `equipoise head`: the server-wide log, for exchange with other clients.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use equipoise_data::write_json;
use equipoise_server::protocol::ServerHead;
use serde::Serialize;

use crate::files::refuse_existing;
use crate::formatting::count;
use crate::output::{Answer, Output};
use crate::round_client::{AddressArgs, Connection, fetch_server_log, read_public_key};

/// Fetch the signed head of all rounds, to compare with other clients
///
/// Every event of every round on a server is also a line of one server-wide log. Its signed head commits the server to
/// the logs of all its rounds. This command fetches the head and the log, checks that they belong together, and writes
/// both to one file. The file names no clients. Exchange it with other clients and compare it with theirs, or with your
/// own receipt, using `equipoise audit --compare`: a server that shows different histories to different clients is found
/// out.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise head --server https://round.example.org:8443 \\
      --server-key server.pub -o monday.head.json
  equipoise audit --compare monday.head.json theirs.head.json")]
pub(crate) struct HeadArgs {
    #[command(flatten)]
    address: AddressArgs,
    /// The server's public key, as received from the coordinator; refuse a head signed with another key
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// File to write to; must not exist
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    path: &'a Path,
    server_key: String,
    server_key_pinned: bool,
    #[serde(flatten)]
    head: &'a ServerHead,
}

pub(crate) fn run(args: &HeadArgs, output: &Output) -> anyhow::Result<Answer> {
    let pinned = args.server_key.as_deref().map(read_public_key).transpose()?;
    refuse_existing(&args.output)?;
    let connection = Connection::to_server(&args.address)?;
    let file = fetch_server_log(&connection)?;
    match &pinned {
        Some(key) => ensure!(
            file.server_key.same_key(key),
            "{}: the head is signed with the key {}, but --server-key is {}",
            connection.server(),
            file.server_key.to_base64(),
            key.to_base64()
        ),
        None => output.note(format!(
            "the server's key is not pinned. Compare {} with the coordinator's copy, or pass it with --server-key",
            file.server_key
        )),
    }
    write_json(&args.output, &file, false)?;
    let document = Document {
        path: &args.output,
        server_key: file.server_key.to_string(),
        server_key_pinned: pinned.is_some(),
        head: &file.head,
    };
    output.result(&document, || {
        format!(
            "{} of {}, signed {}\nhead {}\nwrote {}\n",
            count(file.log.len(), "event"),
            count(file.head.rounds.len(), "round"),
            file.head.at,
            file.head.head,
            args.output.display()
        )
    })
}
