//! `equipoise submit`: a client's single submission.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_data::{ProxyOrigin, Schema, check_output};
use equipoise_server::protocol::{ClientId, SavedReceipt};
use serde::Serialize;

use crate::formatting::count;
use crate::output::{Answer, Output};
use crate::round_client::{
    Connection, ServerArgs, Submission, check_pinned_key, read_private_key, read_public_key,
    save_receipt,
};

/// Submit your proxy to a round
///
/// Fetches the round's schema and checks the whole file against it before sending anything. An interrupted upload
/// resumes, even when the command is run again. The server's signed receipt is saved; it proves that your submission
/// was accepted, and that the table for the solver has exactly your rows. Submitting the same file again returns the same receipt. A different file is refused.
///
/// A Parquet file from `equipoise proxy` says who made it and with which schema. A file of another client, or one made with
/// another schema than the round's, is not sent.
///
/// A receipt is worth as much as the key that signed it. With --server-key, nothing is sent to a server that has another
/// key, and no other receipt is accepted. Without it, the key is whatever the server says.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise submit north.parquet --key north.key --server-key server.pub \\
      --server https://round.example.org:8443 --round spring")]
pub(crate) struct SubmitArgs {
    /// The proxy, as written by `equipoise proxy` (.csv, .csv.gz or .parquet)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Your private key, as written by `equipoise keygen`
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Your name on the roster [default: the name in the key]
    #[arg(long, value_name = "NAME")]
    client: Option<ClientId>,
    #[command(flatten)]
    server: ServerArgs,
    /// The round's --audience address, if it differs from --server
    #[arg(long, value_name = "URL")]
    audience: Option<String>,
    /// The server's public key, as received from the coordinator
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// The schema you agreed on; refuse to submit if the round's schema differs
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Send raw rows, as `proxy --generator raw` and `split` write them: neither fair nor private, for a rehearsal
    #[arg(long)]
    raw_rows: bool,
    /// File to write the receipt to [default: ROUND-CLIENT.receipt.json]
    #[arg(long, value_name = "FILE")]
    receipt: Option<PathBuf>,
    /// Maximum number of retries after a temporary failure
    #[arg(long, value_name = "N", default_value_t = 8)]
    retries: u32,
}

#[derive(Serialize)]
struct Document<'a> {
    receipt_file: &'a Path,
    #[serde(flatten)]
    receipt: &'a SavedReceipt,
}

pub(crate) fn run(args: &SubmitArgs, output: &Output) -> anyhow::Result<Answer> {
    let key = read_private_key(&args.key)?;
    let client = args.client.clone().unwrap_or_else(|| key.name().clone());
    let receipt_file = args
        .receipt
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}-{client}.receipt.json", args.server.round)));
    check_output(&receipt_file, true)?;
    let origin = ProxyOrigin::read(&args.file)?;
    refuse_other_client(&origin, &args.file, &client)?;
    ensure!(
        args.raw_rows || !origin.raw_rows,
        "{}: nothing was sent, because the file holds real rows, neither fair nor private: use another generator of \
         `equipoise proxy` than raw, or confirm a rehearsal with --raw-rows",
        args.file.display()
    );
    let pinned = args.server_key.as_deref().map(read_public_key).transpose()?;
    let connection = Connection::new(&args.server)?;
    let info = connection.info()?;
    match &pinned {
        Some(key) => check_pinned_key(&connection, &info, key)?,
        None => output.note(format!(
            "the server's key is not pinned, so the receipt is only as trustworthy as the connection. Compare {} with the \
             coordinator's copy, or pass it with --server-key",
            info.server_key
        )),
    }
    let expected = args.audience.as_deref().unwrap_or(connection.server());
    ensure!(
        info.audience == expected,
        "the round belongs to {}, not to {expected}. If the coordinator confirmed that address, use --audience {}",
        info.audience,
        crate::shell::quoted(&info.audience)
    );
    let schema = round_schema(&connection, args.schema.as_deref())?;
    ensure!(
        schema.digest() == info.schema_sha256,
        "{}: the schema that the server sent does not have the digest in the round's description. Nothing was sent. Tell the coordinator",
        connection.server()
    );
    origin.check_schema(&args.file, &schema).context(NOTHING_SENT)?;
    let other_criterion = info.fairness.and_then(|f| origin.warn_of_criterion(&args.file, f));
    other_criterion.iter().for_each(|warning| output.warn(warning));
    let submission = Submission::sign(&args.file, &schema, &info, client, &key)?;
    let n_rows = count(submission.n_rows() as usize, "row");
    output.note(format!("checked {n_rows} against the round's schema"));
    let receipt = submission.send(&connection, args.retries, output)?;
    let receipt = SavedReceipt::new(receipt, pinned.is_some());
    let (receipt_file, receipt) = save_receipt(&receipt_file, receipt, output)?;
    let accepted = &receipt.receipt;
    output.result(&Document { receipt_file: &receipt_file, receipt: &receipt }, || {
        format!(
            "accepted: {}, {} distinct (event {} in the audit log)\nreceipt: {}\n",
            count(accepted.rows as usize, "row"),
            accepted.distinct_rows,
            accepted.seq,
            receipt_file.display()
        )
    })
}

const NOTHING_SENT: &str = "nothing was sent";

/// Refuses a file that another client made. The roster decides who is who, so the key's name is not enough to send it.
fn refuse_other_client(origin: &ProxyOrigin, file: &Path, client: &ClientId) -> anyhow::Result<()> {
    match &origin.client {
        Some(made_by) if made_by != client.as_str() => anyhow::bail!(
            "{}: the proxy was made by client `{made_by}`, but you are submitting as `{client}`. Nothing was sent. \
             Submit your own file; if it is yours, make it again with `equipoise proxy --client {client}`",
            file.display()
        ),
        _ => Ok(()),
    }
}

/// Fetches the round's schema, and compares it with the agreed one.
fn round_schema(connection: &Connection, agreed: Option<&Path>) -> anyhow::Result<Schema> {
    let text = String::from_utf8(connection.get_bytes("/schema")?).context("the round's schema")?;
    let schema = Schema::from_toml(&text, Path::new("the round's schema"))?;
    if let Some(path) = agreed {
        let own = Schema::read(path)?;
        ensure!(
            own.digest() == schema.digest(),
            "{} is not the round's schema (its digest is {}, the round's is {}); nothing was sent",
            path.display(),
            own.digest(),
            schema.digest()
        );
    }
    Ok(schema)
}
