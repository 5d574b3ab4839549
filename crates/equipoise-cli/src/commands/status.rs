//! `equipoise status` and `equipoise close`.

mod clients;

use std::path::PathBuf;

use clap::Args;
use equipoise_core::{Choice as _, Verdict};
use equipoise_server::protocol::{ClientStatus, RoundInfo, RoundState};
use serde_json::Value;

use crate::formatting::table;
use crate::output::{Answer, Output};
use crate::round_client::{Connection, CoordinatorArgs, ServerArgs};

/// Show the state of a round
///
/// Prints the state, the number of submissions, the deadline, the verdict on a published model and the address of the round's web page. With the
/// coordinator's token, also lists what the coordinator's page shows: who has submitted what and when, what is unusual
/// about it, revoked keys, and refused uploads.
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
/// fewer submissions than its minimum is not closed. With --wait, the exit code is 1 if the solve failed or the model misses
/// a requirement.
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
    let verdict = connection.verdict(&info)?;
    let mut document = with_verdict(&info, verdict)?;
    let mut clients: Option<Vec<ClientStatus>> = None;
    if args.token_file.is_some() {
        let listed = connection.get_json("/clients")?;
        document["clients"] = serde_json::to_value(&listed)?;
        clients = Some(listed);
    }
    output.result(&document, || describe(&info, verdict, clients.as_deref()))
}

pub(crate) fn run_close(args: &CloseArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::as_coordinator(&args.coordinator)?;
    let mut info: RoundInfo = connection.post(if args.abort { "/abort" } else { "/close" })?;
    if args.wait {
        info = connection.wait_for_end()?;
    }
    let verdict = connection.verdict(&info)?;
    output.result(&with_verdict(&info, verdict)?, || describe(&info, verdict, None))?;
    let is_failed = info.state == RoundState::Failed || verdict == Some(Verdict::Fail);
    Ok(Answer::holds(!is_failed))
}

/// The state of a round as a document, with the verdict on its model.
fn with_verdict(info: &RoundInfo, verdict: Option<Verdict>) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(info)?;
    document["verdict"] = serde_json::to_value(verdict)?;
    Ok(document)
}

fn describe(
    info: &RoundInfo,
    verdict: Option<Verdict>,
    clients: Option<&[ClientStatus]>,
) -> String {
    let submissions =
        format!("{} of {} (minimum {})", info.n_submissions, info.n_clients, info.minimum);
    let progress =
        info.progress.map(|solve| format!("step {} of at most {}", solve.done, solve.of));
    let page = format!("{}/rounds/{}", info.audience, info.round);
    let rows = [
        ("round", Some(info.round.to_string())),
        ("state", Some(info.state.to_string())),
        ("submissions", Some(submissions)),
        ("deadline", info.deadline.map(|deadline| deadline.to_string())),
        ("fairness", info.fairness.map(|fairness| fairness.to_string())),
        ("solve", progress),
        (
            "verdict",
            verdict.map(|verdict| format!("{}: {}", verdict.name(), verdict.description())),
        ),
        ("reason", info.reason.clone()),
        ("server key", Some(info.server_key.to_base64())),
        ("page", Some(page)),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
    let mut text = table(&[], rows.collect(), &[]);
    if let Some(clients) = clients {
        text.push('\n');
        text += &clients::describe(info, clients);
    }
    text
}
