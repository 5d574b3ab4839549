//! `equipoise round new`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_data::Schema;
use equipoise_server::protocol::{ClientId, PublicKey, RoundId, RoundState, check_audience};
use equipoise_server::store::{
    Crash, DataFolder, NewRound, Store, StoreError, StoreParts, write_private,
};
use jiff::Timestamp;
use serde_json::json;

use super::limits::LimitArgs;
use crate::commands::defend::settings_args::SettingsArgs;
use crate::files::read_text;
use crate::formatting::count;
use crate::output::{Answer, Output};
use crate::round_client::read_public_key;

/// Create a round: its clients, schema, trusted rows, settings and limits
///
/// Checks each client's trusted rows against the schema and copies them into the data directory, then opens the round. A server
/// that is running on that directory serves the round at once, without a restart; run this command as the same user.
/// The coordinator's token is written to a file that only you can read; the server stores only the token's digest.
///
/// The solve uses the proxies and trusted rows of the clients that submitted, and gives the same model as
/// `equipoise defend` on these files.
#[derive(Debug, Args)]
#[command(after_help = super::EXAMPLE)]
pub(crate) struct NewArgs {
    /// Name of the round
    #[arg(value_name = "NAME")]
    name: RoundId,
    /// The server's data directory; created if it does not exist
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Server address that clients use, without a path; signatures are valid for this address only
    #[arg(long, value_name = "URL")]
    audience: String,
    /// The schema that all parties agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// A client and its public key file; may be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_client)]
    client: Vec<(ClientId, PathBuf)>,
    /// File with the public keys of the clients, one per line
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    /// Table of trusted raw rows with a column `client`, or folder with one per client; each client needs some
    #[arg(long, value_name = "FILE|DIR")]
    trusted: PathBuf,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Minimum number of submissions needed to solve the round [default: all clients]
    #[arg(long, value_name = "N")]
    minimum: Option<u64>,
    /// Time at which the round closes automatically, such as 2027-03-01T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_deadline)]
    deadline: Option<Timestamp>,
    /// Create the round without opening it; see `round open`
    #[arg(long)]
    draft: bool,
    /// File for the coordinator's token [default: NAME.token]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    // Last, because its heading applies to everything that follows.
    #[command(flatten)]
    limits: LimitArgs,
    /// Crash at this point, as if by kill -9 (for tests)
    #[arg(long, value_name = "POINT", hide = true)]
    crash_at: Option<String>,
}

pub(crate) fn run(args: &NewArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings.resolve()?;
    // Before the data directory is created.
    let audience = args.audience.trim_end_matches('/').to_owned();
    check_audience(&audience).context("--audience")?;
    let schema = Schema::read(&args.schema)?;
    let roster = read_roster(args)?;
    let token_file =
        args.token_file.clone().unwrap_or_else(|| PathBuf::from(format!("{}.token", args.name)));
    let crash = args.crash_at.as_deref().map_or_else(Crash::default, Crash::parse);
    let parts = StoreParts { crash, ..StoreParts::default() };
    let store = Store::open(DataFolder::open_or_join(&args.data)?, parts)?;
    let minimum = args.minimum.unwrap_or(roster.len() as u64);
    let new = NewRound {
        round: args.name.clone(),
        audience,
        schema,
        roster: roster.clone(),
        roots: args.trusted.clone(),
        settings: *settings,
        minimum,
        deadline: args.deadline,
        limits: args.limits.resolve(),
    };
    let state = if args.draft { RoundState::Draft } else { RoundState::Open };
    let mut is_written = false;
    // The token file comes last, so that a problem with the round itself is reported first.
    let created = store.set_up_round(new, state, |token| {
        write_private(&token_file, format!("{token}\n").as_bytes())?;
        is_written = true;
        Ok(())
    });
    if created.is_err() && is_written {
        // There is no such round. The error of the setup matters more than one of the removal.
        let _ = std::fs::remove_file(&token_file);
    }
    created.map_err(|error| explain_token(error, &token_file))?;
    let server_key = store.key().public().to_string();
    let document = json!({
        "round": args.name,
        "state": state,
        "clients": roster.iter().map(PublicKey::name).collect::<Vec<_>>(),
        "token_file": token_file,
        "server_key": server_key,
    });
    output.result(&document, || {
        format!(
            "round {}: {state}, {}; {}\ncoordinator token: {}\nserver key: {server_key}\n",
            args.name,
            count(roster.len(), "client"),
            describe_minimum(minimum, roster.len() as u64),
            token_file.display(),
        )
    })
}

fn describe_minimum(minimum: u64, n_clients: u64) -> String {
    match minimum == n_clients {
        true => "all must submit (--minimum allows for absent clients)".to_owned(),
        false => format!("{minimum} must submit"),
    }
}

/// Says what to do about a token file that cannot be created.
fn explain_token(error: StoreError, token_file: &Path) -> anyhow::Error {
    match &error {
        StoreError::File(path, source)
            if path == token_file && source.kind() == ErrorKind::AlreadyExists =>
        {
            anyhow::anyhow!(
                "{} already exists, and tokens are never overwritten. Choose another file with --token-file.",
                token_file.display()
            )
        }
        StoreError::File(path, source)
            if path == token_file && source.kind() == ErrorKind::NotFound =>
        {
            anyhow::anyhow!(
                "{}: its folder does not exist. Create the folder, or choose another file with --token-file.",
                token_file.display()
            )
        }
        _ => error.into(),
    }
}

fn read_roster(args: &NewArgs) -> anyhow::Result<Vec<PublicKey>> {
    let mut roster = Vec::new();
    for (name, file) in &args.client {
        roster.push(read_public_key(file)?.named(name.clone()));
    }
    if let Some(path) = &args.roster {
        for (i, line) in read_text(path)?.lines().map(str::trim).enumerate() {
            if !line.is_empty() && !line.starts_with('#') {
                let key = line.parse();
                roster.push(key.with_context(|| format!("{}, line {}", path.display(), i + 1))?);
            }
        }
    }
    ensure!(!roster.is_empty(), "the round has no clients; add them with --client or --roster");
    Ok(roster)
}

fn parse_client(text: &str) -> Result<(ClientId, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("must have the form NAME=FILE")?;
    Ok((name.parse().map_err(|error| format!("{error}"))?, file.into()))
}

fn parse_deadline(text: &str) -> Result<Timestamp, &'static str> {
    match text.parse() {
        Ok(time) if time > Timestamp::now() => Ok(time),
        Ok(_) => Err("the deadline is in the past"),
        Err(_) => Err("must be a time such as 2027-03-01T12:00:00Z"),
    }
}
