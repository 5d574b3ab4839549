//! `equipoise serve`: the round server.

mod dev;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_server::serve::run as run_server;
use equipoise_server::store::{Crash, StoreParts, set_private_umask};
use equipoise_server::validator::ChildValidator;
use equipoise_server::{Config, Limits, TlsFiles};
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;

use crate::commands::validate_proxy;
use crate::invocation;
use crate::output::{Answer, Output};

/// Run the round server: collect submissions, solve, publish
///
/// Serves all rounds in a data directory over HTTPS. Closed rounds are solved in the background, and a restarted server
/// resumes interrupted work. SIGTERM gives open requests 30 seconds to finish; SIGHUP reloads the certificate.
/// Logs are JSON lines on stderr.
///
/// The same address serves web pages: `/` lists the rounds, `/rounds/NAME` shows a round and its results to everyone, and
/// `/rounds/NAME/coordinator` lets the coordinator, who logs in with the token, see the clients and close the round.
///
/// With --dev, the server sets up everything itself: a synthetic population, three clients with keys and proxies, a
/// round, and a certificate for localhost. It then prints the commands to try.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise serve --dev
  equipoise serve --config server.toml
  equipoise serve --data data --listen 0.0.0.0:8443 \\
      --cert fullchain.pem --cert-key key.pem

A configuration file (all keys are in docs/samples/server.toml):
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
    /// Create an example round in ./equipoise-dev (or --data) and serve it
    #[arg(long, conflicts_with = "config")]
    dev: bool,
    /// Data directory of the server
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port for clients
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8443")]
    listen: SocketAddr,
    /// Loopback address and port for /healthz, /readyz and /metrics [default: not served]
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<SocketAddr>,
    /// Certificate chain, in PEM format
    #[arg(long, value_name = "PEM", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM format
    #[arg(long, value_name = "PEM", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// Serve plain HTTP; only on a loopback address
    #[arg(long, conflicts_with_all = ["cert", "dev"])]
    plain_http: bool,
    /// Crash at this point, as if by kill -9 (for tests)
    #[arg(long, value_name = "POINT", hide = true)]
    crash_at: Option<String>,
}

pub(crate) fn run(args: &ServeArgs, output: &Output) -> anyhow::Result<Answer> {
    set_private_umask();
    // Starts the solver's threads now. Later, a server under attack might not get them.
    rayon::current_num_threads();
    let mut instructions = None;
    let config = match &args.config {
        Some(file) => Config::read(file)?,
        None => {
            let (data, tls) = if args.dev {
                let folder = args.data.clone().unwrap_or_else(|| "equipoise-dev".into());
                instructions = Some(dev::prepare(&folder, args.listen, output)?);
                (folder.join("data"), Some(dev::tls_files(&folder)))
            } else {
                data_and_certificate(args)?
            };
            Config {
                data,
                listen: args.listen,
                admin_listen: args.admin_listen,
                tls,
                plain_http_on_loopback: args.plain_http,
                require_sandbox: false,
                limits: Limits::default(),
            }
        }
    };
    let level = if output.quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .init();
    let crash = args.crash_at.as_deref().map_or_else(Crash::default, Crash::parse);
    let parts = StoreParts { crash, ..StoreParts::default() };
    let (program, mut child_arguments) = invocation::program()?;
    child_arguments.push(validate_proxy::NAME.to_owned());
    if args.crash_at.as_deref() == Some(validate_proxy::CRASH) {
        child_arguments.push("--crash".to_owned());
    }
    let validator = ChildValidator::new(program, child_arguments, config.limits.free_rejections);
    run_server(&config, parts, Arc::new(validator), |listening, admin| {
        let pages = page_address(listening, config.tls.is_some());
        let text = || {
            let plain = || format!("serving at {listening}\nweb pages: {pages}\n");
            instructions.unwrap_or_else(plain)
        };
        let document = json!({ "listening": listening, "admin": admin, "pages": pages });
        if let Err(error) = output.result(&document, text) {
            output.warn(error);
        }
    })?;
    Ok(Answer::Done)
}

/// Where the list of rounds is, for a browser.
fn page_address(listening: SocketAddr, has_certificate: bool) -> String {
    let scheme = if has_certificate { "https" } else { "http" };
    match listening.ip().is_unspecified() {
        true => format!("{scheme}://YOUR-HOST:{}/", listening.port()),
        false => format!("{scheme}://{listening}/"),
    }
}

fn data_and_certificate(args: &ServeArgs) -> anyhow::Result<(PathBuf, Option<TlsFiles>)> {
    let data = args.data.clone();
    let data = data.context("nothing to serve: add --data DIR or --config FILE, or try --dev")?;
    let files = args.cert.clone().zip(args.cert_key.clone());
    let tls = files.map(|(certificate, key)| TlsFiles { certificate, key });
    ensure!(
        tls.is_some() || args.plain_http,
        "no certificate: add --cert and --cert-key, or --plain-http on a loopback address"
    );
    Ok((data, tls))
}
