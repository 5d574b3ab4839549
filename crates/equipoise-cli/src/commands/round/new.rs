//! `equipoise round new`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use equipoise_data::{Schema, check_output};
use equipoise_server::protocol::{Name, PublicKey};
use equipoise_server::round::SubmissionLimits;
use equipoise_server::store::{DataFolder, NewRound, Store, StoreParts, write_private};
use jiff::Timestamp;
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::defend::settings_args::SettingsArgs;
use crate::figures::count;
use crate::output::Output;
use crate::round_client::read_public_key;

/// Set up a round: who takes part, what is asked of them, how it is solved
///
/// Checks the root of every client by the schema and copies it into the data directory, fixes the roster and
/// the settings, and opens the round. `serve` must not be running on that directory meanwhile. The
/// coordinator's token goes to a file that only you can read; the server keeps its digest alone.
///
/// The solve uses exactly the clients that submitted, with their proxies and their roots: the same as
/// `equipoise defend` on these files.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise round new spring --data data --audience https://round.example.org:8443 \\
      --schema schema.toml --client north=north.pub --client south=south.pub \\
      --root roots --fairness sp --minimum 2 --deadline 2027-03-01T12:00:00Z")]
pub(crate) struct NewArgs {
    /// The round
    #[arg(value_name = "NAME")]
    name: Name,
    /// The server's data directory; made if it is not there
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The address that clients use; their signatures are bound to it
    #[arg(long, value_name = "URL")]
    audience: String,
    /// The schema that all agreed on
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
    /// A client and its public key; may be given several times
    #[arg(long, value_name = "NAME=FILE")]
    client: Vec<String>,
    /// File with one public key a line, named as the round will call the clients
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    /// Folder of roots, tables of raw rows, one per client
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Submissions needed for a solve [default: all clients]
    #[arg(long, value_name = "N")]
    minimum: Option<u64>,
    /// When the round closes by itself, such as 2027-03-01T12:00:00Z
    #[arg(long, value_name = "TIME")]
    deadline: Option<Timestamp>,
    #[command(flatten)]
    limits: Limits,
    /// Do not open the round yet
    #[arg(long)]
    draft: bool,
    /// File for the coordinator's token [default: NAME.token]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// What a submission may be.
#[derive(Debug, Default, Args)]
struct Limits {
    /// Most bytes of a submission [default: 512 MiB]
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
    /// Most rows of a submission [default: 5000000]
    #[arg(long, value_name = "N")]
    max_rows: Option<u64>,
}

impl Limits {
    fn resolve(&self) -> SubmissionLimits {
        let default = SubmissionLimits::default();
        SubmissionLimits {
            body_bytes: self.max_bytes.unwrap_or(default.body_bytes),
            rows: self.max_rows.unwrap_or(default.rows),
            ..default
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    round: &'a Name,
    state: &'static str,
    clients: Vec<&'a Name>,
    token_file: &'a Path,
    server_key: String,
}

/// Runs the command.
pub(crate) fn run(args: &NewArgs, output: &Output) -> anyhow::Result<Answer> {
    let settings = args.settings.resolve()?;
    let schema = Schema::read(&args.schema)?;
    let roster = read_roster(args)?;
    let token_file =
        args.token_file.clone().unwrap_or_else(|| PathBuf::from(format!("{}.token", args.name)));
    check_output(&token_file, false)?;
    if let Some(deadline) = args.deadline
        && deadline <= Timestamp::now()
    {
        bail!("--deadline {deadline} is over already");
    }
    let store = open_store(&args.data)?;
    let token = store.create_round(NewRound {
        round: args.name.clone(),
        audience: args.audience.trim_end_matches('/').to_owned(),
        schema,
        roster: roster.clone(),
        roots: args.root.clone(),
        settings: *settings,
        minimum: args.minimum.unwrap_or(roster.len() as u64),
        deadline: args.deadline,
        limits: args.limits.resolve(),
    })?;
    write_private(&token_file, format!("{token}\n").as_bytes())?;
    if !args.draft {
        store.open_round(&args.name)?;
    }
    let document = Document {
        round: &args.name,
        state: if args.draft { "draft" } else { "open" },
        clients: roster.iter().map(PublicKey::name).collect(),
        token_file: &token_file,
        server_key: store.key().public().to_string(),
    };
    output.result(&document, || {
        format!(
            "round {}: {}, {}\ncoordinator's token: {}\nserver's key: {}\n",
            document.round,
            document.state,
            count(roster.len(), "client"),
            token_file.display(),
            document.server_key
        )
    })?;
    Ok(Answer::Done)
}

/// Opens a data directory.
pub(crate) fn open_store(data: &Path) -> anyhow::Result<Store> {
    Ok(Store::open(DataFolder::open(data)?, StoreParts::default())?)
}

fn read_roster(args: &NewArgs) -> anyhow::Result<Vec<PublicKey>> {
    let mut roster = Vec::new();
    for entry in &args.client {
        let (name, file) = entry
            .split_once('=')
            .with_context(|| format!("--client {entry}: must be NAME=FILE"))?;
        let name: Name = name.parse().with_context(|| format!("--client {entry}"))?;
        roster.push(read_public_key(Path::new(file))?.named(name));
    }
    if let Some(path) = &args.roster {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = text.lines().map(str::trim).enumerate();
        for (i, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let place = || format!("{}, line {}", path.display(), i + 1);
            roster.push(line.parse().with_context(place)?);
        }
    }
    if roster.is_empty() {
        bail!("nobody takes part: name clients with --client or --roster");
    }
    Ok(roster)
}
