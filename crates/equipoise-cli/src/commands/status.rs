//! `equipoise status` and `equipoise close`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use equipoise_server::protocol::{RoundInfo, RoundState};
use serde_json::Value;

use crate::formatting::table;
use crate::output::{Answer, Output};
use crate::round_client::{Connection, CoordinatorArgs, ServerArgs};

/// Show the state of a round
///
/// Prints the state, the number of submissions and the deadline. With the coordinator's token, also lists which
/// clients have submitted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise status --server https://round.example.org:8443 --round spring
  equipoise status --server https://round.example.org:8443 --round spring \\
      --token-file spring.token")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// File with the coordinator's token, to list the clients
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Close a round and start solving it
///
/// The set of submissions is then final. The server solves in the background and publishes the result. A round with
/// fewer submissions than its minimum is not closed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise close --server https://round.example.org:8443 --round spring \\
      --token-file spring.token --wait")]
pub(crate) struct CloseArgs {
    #[command(flatten)]
    coordinator: CoordinatorArgs,
    /// Abort the round instead: end it without solving it
    #[arg(long, conflicts_with = "wait")]
    abort: bool,
    /// Wait until the round is published or has failed
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(args: &StatusArgs, output: &Output) -> anyhow::Result<Answer> {
    let mut connection = Connection::new(&args.server)?;
    if let Some(file) = &args.token_file {
        connection = connection.with_token(file)?;
    }
    let info = connection.info()?;
    let mut document = serde_json::to_value(&info)?;
    if args.token_file.is_some() {
        document["clients"] = connection.get_json("/clients")?;
    }
    output.result(&document, || describe(&info, document["clients"].as_array()))
}

pub(crate) fn run_close(args: &CloseArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::as_coordinator(&args.coordinator)?;
    let mut info: RoundInfo = connection.post(if args.abort { "/abort" } else { "/close" })?;
    while args.wait && !info.state.is_final() {
        std::thread::sleep(Duration::from_millis(500));
        info = connection.info()?;
    }
    output.result(&info, || describe(&info, None))?;
    Ok(Answer::holds(info.state != RoundState::Failed))
}

fn describe(info: &RoundInfo, clients: Option<&Vec<Value>>) -> String {
    let submissions =
        format!("{} of {} (minimum {})", info.n_submissions, info.n_clients, info.minimum);
    let progress =
        info.progress.map(|solve| format!("step {} of at most {}", solve.done, solve.of));
    let rows = [
        ("round", Some(info.round.to_string())),
        ("state", Some(info.state.to_string())),
        ("submissions", Some(submissions)),
        ("deadline", info.deadline.map(|deadline| deadline.to_string())),
        ("solve", progress),
        ("reason", info.reason.clone()),
        ("server key", Some(info.server_key.to_base64())),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    let mut text = table(&[], rows.collect(), &[]);
    if let Some(clients) = clients {
        text.push('\n');
        let rows = clients.iter().map(client_row).collect();
        text += &table(&["client", "state", "rows"], rows, &[2]);
    }
    text
}

fn client_row(client: &Value) -> Vec<String> {
    let state = match (client["submitted"] == true, client["revoked_at"].is_string()) {
        (true, false) => "submitted",
        (true, true) => "submitted; key revoked",
        (false, true) => "key revoked",
        (false, false) => "not submitted",
    };
    let name = client["client"].as_str().unwrap_or_default();
    let rows = client["rows"].as_u64().map_or_else(String::new, |rows| rows.to_string());
    vec![name.to_owned(), state.to_owned(), rows]
}
