//! `equipoise status` and `equipoise close`: where a round stands, and its end.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use equipoise_server::protocol::{RoundInfo, RoundState};
use serde_json::Value;

use crate::answer::Answer;
use crate::figures::table;
use crate::output::Output;
use crate::round_client::{Connection, ServerArgs};

/// See where a round stands
///
/// Anyone may see the state, how many have submitted and the deadline; with the coordinator's token also who.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise status --server https://round.example.org:8443 --round spring
  equipoise status --server https://round.example.org:8443 --round spring --token-file spring.token")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The coordinator's token, to see who has submitted
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Close a round, and have it solved
///
/// From then on the set of submissions is final. The server solves in the background and publishes; with
/// fewer submissions than the round needs it stays open.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise close --server https://round.example.org:8443 --round spring --token-file spring.token
  equipoise close --server https://round.example.org:8443 --round spring --token-file spring.token --wait")]
pub(crate) struct CloseArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The coordinator's token
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// End the round without a solve instead
    #[arg(long, conflicts_with = "wait")]
    abort: bool,
    /// Wait until the round is published or has failed
    #[arg(long)]
    wait: bool,
}

/// Runs `status`.
pub(crate) fn run(args: &StatusArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::new(&args.server)?;
    let info = connection.info()?;
    let clients: Option<Vec<Value>> = match &args.token_file {
        Some(file) => Some(connection.get_as_coordinator("/clients", &read_token(file)?)?),
        None => None,
    };
    let mut document = serde_json::to_value(&info)?;
    if let Some(clients) = &clients {
        document["clients"] = Value::from(clients.clone());
    }
    output.result(&document, || in_words(&info, clients.as_deref()))?;
    Ok(Answer::Done)
}

/// Runs `close`.
pub(crate) fn run_close(args: &CloseArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::new(&args.server)?;
    let token = read_token(&args.token_file)?;
    let path = if args.abort { "/abort" } else { "/close" };
    let mut info: RoundInfo = connection.post(path, &token)?;
    while args.wait && !info.state.is_final() {
        std::thread::sleep(std::time::Duration::from_millis(500));
        info = connection.info()?;
    }
    output.result(&info, || in_words(&info, None))?;
    Ok(Answer::holds(info.state != RoundState::Failed))
}

/// A token from its file.
pub(crate) fn read_token(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    Ok(text.trim().to_owned())
}

fn in_words(info: &RoundInfo, clients: Option<&[Value]>) -> String {
    let line = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        line("round", info.round.to_string()),
        line("state", info.state.to_string()),
        line(
            "submissions",
            format!("{} of {}; {} are needed", info.n_submissions, info.n_clients, info.minimum),
        ),
    ];
    if let Some(deadline) = info.deadline {
        rows.push(line("deadline", deadline.to_string()));
    }
    if let Some(progress) = info.progress {
        rows.push(line("solve", format!("step {} of at most {}", progress.done, progress.of)));
    }
    if let Some(reason) = &info.reason {
        rows.push(line("reason", reason.clone()));
    }
    rows.push(line("server key", info.server_key.to_base64()));
    let mut text = table(&[], rows, &[]);
    if let Some(clients) = clients {
        let row = |client: &Value| {
            let state = match (client["submitted"] == true, client["revoked_at"].is_string()) {
                (true, false) => "submitted",
                (true, true) => "submitted; key revoked",
                (false, true) => "key revoked",
                (false, false) => "awaited",
            };
            let name = client["client"].as_str().unwrap_or_default().to_owned();
            let rows = client["rows"].as_u64().map_or_else(String::new, |rows| rows.to_string());
            vec![name, state.to_owned(), rows]
        };
        text.push('\n');
        text += &table(&["client", "state", "rows"], clients.iter().map(row).collect(), &[2]);
    }
    text
}
