//! `equipoise round open` and `round revoke`: what a coordinator asks a running server for.

use std::path::PathBuf;

use clap::Args;
use equipoise_server::protocol::{Name, RoundInfo};

use crate::answer::Answer;
use crate::commands::status::read_token;
use crate::output::Output;
use crate::round_client::{Connection, ServerArgs};

/// Open a round that was set up as a draft
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round open --server https://round.example.org:8443 --round spring --token-file spring.token")]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The coordinator's token
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
}

/// Accept nothing more that is signed with a client's key
///
/// For a key that got into other hands. What the client submitted before stays in the round.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round revoke north --server https://round.example.org:8443 --round spring --token-file spring.token")]
pub(crate) struct RevokeArgs {
    /// The client
    #[arg(value_name = "NAME")]
    client: Name,
    #[command(flatten)]
    server: ServerArgs,
    /// The coordinator's token
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
}

/// Runs `round open`.
pub(crate) fn open(args: &OpenArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::new(&args.server)?;
    let info: RoundInfo = connection.post("/open", &read_token(&args.token_file)?)?;
    output.result(&info, || format!("round {} is {}\n", info.round, info.state))?;
    Ok(Answer::Done)
}

/// Runs `round revoke`.
pub(crate) fn revoke(args: &RevokeArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::new(&args.server)?;
    let path = format!("/clients/{}/revoke", args.client);
    let info: RoundInfo = connection.post(&path, &read_token(&args.token_file)?)?;
    output.result(&info, || format!("the key of {} is not accepted any more\n", args.client))?;
    Ok(Answer::Done)
}
