//! The connection to a round server: what is trusted, and how answers are read.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use equipoise_server::protocol::{Name, RefusalBody, RoundInfo};
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::refused::RefusedByServer;

/// The most that is read of an answer.
const LARGEST_ANSWER: u64 = 256 << 20;
const CONNECT: Duration = Duration::from_secs(15);
/// Reading a file of 512 MiB in the server's limited process takes its time.
const ANSWER: Duration = Duration::from_secs(300);

/// Which round of which server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Address of the server, such as `https://round.example.org:8443`
    #[arg(long, value_name = "URL")]
    pub(crate) server: String,
    /// The round
    #[arg(long, value_name = "NAME")]
    pub(crate) round: Name,
    /// Certificates to trust, in PEM form, instead of those that browsers trust
    #[arg(long, value_name = "PEM")]
    pub(crate) ca: Option<PathBuf>,
}

/// A round of a server.
pub(crate) struct Connection {
    agent: Agent,
    server: String,
    round: Name,
}

impl Connection {
    /// Checks what can be checked without the network.
    pub(crate) fn new(args: &ServerArgs) -> anyhow::Result<Self> {
        let server = args.server.trim_end_matches('/').to_owned();
        let secret = server.starts_with("https://");
        if !secret && !is_loopback(&server) {
            bail!(
                "{server}: must begin with https://; http:// is for a server on this machine alone"
            );
        }
        let roots = match &args.ca {
            Some(file) => RootCerts::from(read_certificates(file)?),
            None => RootCerts::WebPki,
        };
        let agent = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("equipoise/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .build()
            .new_agent();
        Ok(Self { agent, server, round: args.round.clone() })
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The server's address, as typed.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// An address below the round.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/v1/rounds/{}{path}", self.server, self.round)
    }

    /// The round as it stands.
    pub(crate) fn info(&self) -> anyhow::Result<RoundInfo> {
        self.get_json("")
    }

    /// A JSON document below the round.
    pub(crate) fn get_json<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.json(self.agent.get(self.url(path)).call())
    }

    /// A file below the round.
    pub(crate) fn get_bytes(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.read(self.agent.get(self.url(path)).call())
    }

    /// Something that only the coordinator may do.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, token: &str) -> anyhow::Result<T> {
        let request = self.agent.post(self.url(path));
        self.json(request.header("authorization", format!("Bearer {token}")).send_empty())
    }

    /// Something that only the coordinator may see.
    pub(crate) fn get_as_coordinator<T: DeserializeOwned>(
        &self,
        path: &str,
        token: &str,
    ) -> anyhow::Result<T> {
        let request = self.agent.get(self.url(path));
        self.json(request.header("authorization", format!("Bearer {token}")).call())
    }

    /// Reads an answer that is JSON.
    pub(crate) fn json<T: DeserializeOwned>(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
    ) -> anyhow::Result<T> {
        let content = self.read(answer)?;
        serde_json::from_slice(&content)
            .with_context(|| format!("{}: the answer is not one of a round server", self.server))
    }

    fn read(&self, answer: Result<Response<Body>, ureq::Error>) -> anyhow::Result<Vec<u8>> {
        let answer = answer.map_err(|error| {
            let untrusted = error.to_string().contains("certificate");
            let problem = match untrusted {
                true => "its certificate is not trusted (name those to trust with --ca)",
                false => "cannot be reached",
            };
            anyhow::Error::from(error).context(format!("{}: {problem}", self.server))
        })?;
        let status = answer.status().as_u16();
        let mut content = Vec::new();
        let body = answer.into_body();
        body.into_reader()
            .take(LARGEST_ANSWER)
            .read_to_end(&mut content)
            .with_context(|| format!("{}: the answer was cut off", self.server))?;
        if (200..300).contains(&status) {
            return Ok(content);
        }
        let body = serde_json::from_slice(&content).unwrap_or_else(|_| RefusalBody {
            code: format!("status_{status}"),
            message: "the answer is not one of a round server".into(),
            hint: None,
            row: None,
            column: None,
            offset: None,
            accepted_sha256: None,
            retry_after_seconds: None,
        });
        Err(RefusedByServer { status, body }.into())
    }
}

fn is_loopback(server: &str) -> bool {
    let Some(rest) = server.strip_prefix("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

fn read_certificates(file: &Path) -> anyhow::Result<Vec<ureq::tls::Certificate<'static>>> {
    let pem = std::fs::read(file).with_context(|| file.display().to_string())?;
    let certificates: Vec<_> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    anyhow::ensure!(
        !certificates.is_empty(),
        "{}: holds no certificate in PEM form",
        file.display()
    );
    Ok(certificates)
}
