//! `equipoise round open` and `round revoke`: a coordinator's requests to a running server.

use clap::Args;
use equipoise_server::protocol::{ClientId, RoundInfo};

use crate::output::{Answer, Output};
use crate::round_client::{Connection, CoordinatorArgs};

/// Open a round that was created with --draft
///
/// After that, clients can submit.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round open --server https://round.example.org:8443 \\
      --round spring --token-file spring.token")]
pub(crate) struct OpenArgs {
    #[command(flatten)]
    coordinator: CoordinatorArgs,
}

/// Revoke a client's key
///
/// Use this when a private key may have been stolen. The server then refuses everything signed with the key. A
/// submission that was already accepted stays in the round.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round revoke north --server https://round.example.org:8443 \\
      --round spring --token-file spring.token")]
pub(crate) struct RevokeArgs {
    /// Name of the client
    #[arg(value_name = "NAME")]
    client: ClientId,
    #[command(flatten)]
    coordinator: CoordinatorArgs,
}

pub(crate) fn open(args: &OpenArgs, output: &Output) -> anyhow::Result<Answer> {
    let info: RoundInfo = Connection::as_coordinator(&args.coordinator)?.post("/open")?;
    output.result(&info, || format!("round {} is {}\n", info.round, info.state))
}

pub(crate) fn revoke(args: &RevokeArgs, output: &Output) -> anyhow::Result<Answer> {
    let connection = Connection::as_coordinator(&args.coordinator)?;
    let info: RoundInfo = connection.post(&format!("/clients/{}/revoke", args.client))?;
    output.result(&info, || format!("the key of {} is revoked\n", args.client))
}
