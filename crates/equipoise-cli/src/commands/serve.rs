//! `equipoise serve`: the round server.

mod dev;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use equipoise_server::serve::run as run_server;
use equipoise_server::store::{Crash, StoreParts};
use equipoise_server::validator::ChildValidator;
use equipoise_server::{Config, Limits, TlsFiles};
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::validate_proxy;
use crate::output::{Output, say};

/// Collect submissions, solve, publish
///
/// Serves all rounds of a data directory over HTTPS until it gets SIGTERM; then requests may end for half a
/// minute. Closed rounds are solved in the background; a restart at any point goes on where it was. SIGHUP has
/// the certificate read again. Logs are JSON lines on stderr.
///
/// With --dev, everything is made on the spot: a made-up population, three clients with keys and proxies, a
/// round, and a certificate for localhost; the commands to try are printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  equipoise serve --dev
  equipoise serve --config server.toml
  equipoise serve --data data --listen 0.0.0.0:8443 --cert fullchain.pem --cert-key key.pem

A configuration file (docs/samples/server.toml has every key):
  data = \"/var/lib/equipoise\"
  listen = \"0.0.0.0:8443\"
  admin_listen = \"127.0.0.1:9090\"
  [tls]
  certificate = \"fullchain.pem\"
  key = \"key.pem\"
  [limits]
  uploads_at_once = 64")]
pub(crate) struct ServeArgs {
    /// Configuration file, instead of the options below
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "listen", "admin_listen", "cert", "plain_http"])]
    config: Option<PathBuf>,
    /// Try it out: make an example round in this folder's equipoise-dev (or --data), and serve it
    #[arg(long, conflicts_with = "config")]
    dev: bool,
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where clients connect [default: 127.0.0.1:8443]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where /healthz, /readyz and /metrics are; a loopback address [default: nowhere]
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<SocketAddr>,
    /// The certificate, in PEM form
    #[arg(long, value_name = "PEM", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// The certificate's private key, in PEM form
    #[arg(long, value_name = "PEM", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Serve plain HTTP, on a loopback address alone
    #[arg(long, conflicts_with_all = ["cert", "dev"])]
    plain_http: bool,
    /// For tests of crashes: die, as by kill -9, at this place
    #[arg(long, value_name = "PLACE", hide = true)]
    crash_at: Option<String>,
}

#[derive(Serialize)]
struct Ready {
    listening: SocketAddr,
    admin: Option<SocketAddr>,
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, output: &Output) -> anyhow::Result<Answer> {
    let mut words = None;
    let config = match (&args.config, args.dev) {
        (Some(file), _) => Config::read(file)?,
        (None, true) => {
            let folder = args.data.clone().unwrap_or_else(|| PathBuf::from("equipoise-dev"));
            let dev = dev::prepare(&folder, args.listen, output)?;
            words = Some(dev.words);
            Config { admin_listen: args.admin_listen, ..dev.config }
        }
        (None, false) => from_options(args)?,
    };
    let level = if output.quiet { "warn" } else { "info" };
    let level = level.parse().unwrap_or(tracing_subscriber::filter::LevelFilter::INFO);
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .init();
    let crash = args.crash_at.as_deref().map_or_else(Crash::default, Crash::parse);
    let parts = StoreParts { crash, ..StoreParts::default() };
    let program = std::env::current_exe().context("this program's own file")?;
    let mut words_of_child = vec![validate_proxy::NAME.to_owned()];
    if args.crash_at.as_deref() == Some(validate_proxy::CRASH) {
        words_of_child.push("--crash".to_owned());
    }
    let validator = ChildValidator::new(program, words_of_child);
    run_server(&config, parts, Arc::new(validator), |listening, admin| {
        let ready = Ready { listening, admin };
        let told =
            output.result(&ready, || words.unwrap_or_else(|| format!("serving at {listening}\n")));
        if let Err(error) = told {
            say("warning", error);
        }
    })?;
    Ok(Answer::Done)
}

fn from_options(args: &ServeArgs) -> anyhow::Result<Config> {
    let Some(data) = args.data.clone() else {
        bail!("say what to serve: --data DIR, --config FILE, or --dev to try it out");
    };
    let tls = match (&args.cert, &args.cert_key) {
        (Some(certificate), Some(key)) => {
            Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
        }
        _ => None,
    };
    if tls.is_none() && !args.plain_http {
        bail!(
            "no certificate is given: use --cert and --cert-key, or --plain-http on a loopback address"
        );
    }
    Ok(Config {
        data,
        listen: args.listen.unwrap_or_else(default_address),
        admin_listen: args.admin_listen,
        tls,
        plain_http_on_loopback: args.plain_http,
        limits: Limits::default(),
    })
}

fn default_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 8443))
}
