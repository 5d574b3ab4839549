//! `equipoise submit`: a client's one submission.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_data::{ReadLimits, Schema, check_output, visit_proxy, write_json};
use equipoise_server::protocol::{Name, SignedReceipt};
use serde::Serialize;

use crate::answer::Answer;
use crate::figures::count;
use crate::output::Output;
use crate::round_client::{Connection, ServerArgs, Submission, read_private_key};

/// Send your proxy to a round, once
///
/// Fetches the round's schema and checks the whole file by it before anything is sent. An upload that breaks
/// off goes on where it stopped, also when the command is run again. The server's signed receipt is
/// kept: with it you can show later that your submission was accepted. Sending the same file
/// twice is fine and gives the same receipt; another file is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise submit north.parquet --key north.key --server https://round.example.org:8443 --round spring")]
pub(crate) struct SubmitArgs {
    /// The proxy: .csv, .csv.gz or .parquet, as `equipoise proxy` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Your private key, as `equipoise keygen` made it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Your name in the roster [default: the key's]
    #[arg(long, value_name = "NAME")]
    client: Option<Name>,
    #[command(flatten)]
    server: ServerArgs,
    /// The server's name in the round, where it is not its address
    #[arg(long, value_name = "NAME")]
    audience: Option<String>,
    /// The schema that you agreed on, to see whether the round has the same
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// File for the receipt [default: ROUND-CLIENT.receipt.json]
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
    /// How often to try again after a failure that may pass
    #[arg(long, value_name = "N", default_value_t = 8)]
    retries: u32,
}

#[derive(Serialize)]
struct Document<'a> {
    receipt_file: &'a Path,
    #[serde(flatten)]
    receipt: &'a SignedReceipt,
}

/// Runs the command.
pub(crate) fn run(args: &SubmitArgs, output: &Output) -> anyhow::Result<Answer> {
    let key = read_private_key(&args.key)?;
    let client = args.client.clone().unwrap_or_else(|| key.name().clone());
    let receipt_file = args
        .receipt
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}-{client}.receipt.json", args.server.round)));
    check_output(&receipt_file, true)?;
    let connection = Connection::new(&args.server)?;
    let info = connection.info()?;
    let expected = args.audience.as_deref().unwrap_or(connection.server());
    ensure!(
        info.audience == expected,
        "the round is one of `{}`, not of {expected}. If the coordinator told you that name, add --audience {}",
        info.audience,
        crate::shell::quoted(&info.audience)
    );
    let schema = round_schema(&connection, args.schema.as_deref())?;
    ensure!(
        schema.digest() == info.schema_sha256,
        "{}: the schema is not the one that the round names",
        connection.server()
    );
    // The rows are looked at and forgotten: the file may be larger than the memory.
    let n_rows = visit_proxy(&args.file, &schema, ReadLimits::NONE, |_| Ok(()));
    let n_rows = n_rows.context("nothing was sent")? as usize;
    output.note(format!("{} in accordance with the round's schema", count(n_rows, "row")));

    let submission = Submission::sign(&args.file, &info, client, &key)?;
    let receipt = submission.send(&connection, args.retries, output)?;
    ensure!(
        receipt.server_key.same_key(&info.server_key),
        "the receipt is signed by another key than the round's"
    );
    write_json(&receipt_file, &receipt, true)?;
    let told = &receipt.receipt;
    output.result(&Document { receipt_file: &receipt_file, receipt: &receipt }, || {
        format!(
            "accepted: {} rows, {} of them different, as number {} of the round's log\nreceipt: {}\n",
            told.rows,
            told.distinct_rows,
            told.seq,
            receipt_file.display()
        )
    })?;
    Ok(Answer::Done)
}

/// The round's schema; refused if it is not the agreed one.
fn round_schema(connection: &Connection, agreed: Option<&Path>) -> anyhow::Result<Schema> {
    let text = String::from_utf8(connection.get_bytes("/schema")?).context("the round's schema")?;
    let schema = Schema::from_toml(&text, Path::new("the round's schema"))?;
    if let Some(path) = agreed {
        let own = Schema::read(path)?;
        ensure!(
            own.digest() == schema.digest(),
            "{}: is not the round's schema (digest {}, the round's is {}); nothing was sent",
            path.display(),
            own.digest(),
            schema.digest()
        );
    }
    Ok(schema)
}
