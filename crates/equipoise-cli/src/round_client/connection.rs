//! The connection to a round server: which certificates it trusts, and how it reads replies.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use equipoise_core::Verdict;
use equipoise_server::protocol::{RefusalBody, RoundId, RoundInfo, RoundState, SignedServerHead};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::files::read_text;

const MAX_REPLY_BYTES: u64 = 256 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Long enough for the server to validate a file of 512 MiB while others wait too.
const REPLY_TIMEOUT: Duration = Duration::from_secs(900);

/// Pauses before a read is repeated on a new connection.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_millis(800);
/// Between two looks at the state of a round.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A server.
#[derive(Debug, Args)]
pub(crate) struct AddressArgs {
    /// Address of the server, such as `https://round.example.org:8443`
    #[arg(long, value_name = "URL")]
    server: String,
    /// Certificates to trust, in PEM format, instead of the usual web certificate authorities
    #[arg(long, value_name = "PEM")]
    ca: Option<PathBuf>,
}

/// A round on a server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    address: AddressArgs,
    /// Name of the round
    #[arg(long, value_name = "NAME")]
    pub(crate) round: RoundId,
}

/// A round on a server, and the token of its coordinator.
#[derive(Debug, Args)]
pub(crate) struct CoordinatorArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// File with the coordinator's token, as written by `round new`
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
}

#[derive(Debug, thiserror::Error)]
#[error("refused by the server ({}): {}", body.code, body.message)]
pub(crate) struct RefusedByServer {
    status: u16,
    pub(crate) body: RefusalBody,
}

impl RefusedByServer {
    /// Whether the same request may succeed later.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
            || matches!(self.body.code.as_str(), "body_truncated" | "offset_mismatch")
    }
}

/// A client of a server, and usually of one round on it.
pub(crate) struct Connection {
    pub(super) agent: Agent,
    server: String,
    /// The address below which paths are requested.
    base: String,
    authorization: Option<String>,
}

impl Connection {
    /// A client of a round. Checks the arguments; connects with the first request.
    pub(crate) fn new(args: &ServerArgs) -> anyhow::Result<Self> {
        let connection = Self::to_server(&args.address)?;
        let base = format!("{}/rounds/{}", connection.base, args.round);
        Ok(Self { base, ..connection })
    }

    /// A client of a server, without a round.
    pub(crate) fn to_server(args: &AddressArgs) -> anyhow::Result<Self> {
        let server = args.server.trim_end_matches('/').to_owned();
        ensure!(
            server.starts_with("https://") || is_loopback(&server),
            "{server}: the address must begin with https://; http:// is allowed only for a server on \
             this machine"
        );
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
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(REPLY_TIMEOUT))
            .build()
            .new_agent();
        Ok(Self { agent, base: format!("{server}/v1"), server, authorization: None })
    }

    /// A connection whose requests carry the coordinator's token.
    pub(crate) fn as_coordinator(args: &CoordinatorArgs) -> anyhow::Result<Self> {
        Self::new(&args.server)?.with_token(&args.token_file)
    }

    /// Adds the token in a file to all requests.
    pub(crate) fn with_token(self, file: &Path) -> anyhow::Result<Self> {
        let authorization = Some(format!("Bearer {}", read_text(file)?.trim()));
        Ok(Self { authorization, ..self })
    }

    /// The server's address, as given.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The URL of a path below the round, or below `/v1` without a round.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The signed head of the server-wide log.
    pub(super) fn server_head(&self) -> anyhow::Result<SignedServerHead> {
        self.parse(&self.get_url(&format!("{}/v1/head", self.server))?)
    }

    /// The current state of the round.
    pub(crate) fn info(&self) -> anyhow::Result<RoundInfo> {
        self.get_json("")
    }

    /// Waits until the round is over: published, failed or aborted.
    pub(crate) fn wait_for_end(&self) -> anyhow::Result<RoundInfo> {
        loop {
            let info = self.info()?;
            if info.state.is_final() {
                return Ok(info);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// The verdict on the model of a published round, and `None` for other rounds.
    pub(crate) fn verdict(&self, info: &RoundInfo) -> anyhow::Result<Option<Verdict>> {
        #[derive(Deserialize)]
        struct Outcome {
            verdict: Verdict,
        }
        if info.state != RoundState::Published {
            return Ok(None);
        }
        Ok(Some(self.get_json::<Outcome>("/files/outcome.json")?.verdict))
    }

    /// Fetches a JSON document.
    pub(crate) fn get_json<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.parse(&self.get_bytes(path)?)
    }

    pub(crate) fn get_bytes(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.get_url(&self.url(path))
    }

    fn get_url(&self, url: &str) -> anyhow::Result<Vec<u8>> {
        let mut pause = FIRST_PAUSE;
        loop {
            let reply = self.authorized(self.agent.get(url)).call();
            match self.read(reply) {
                // A busy server closes idle connections, perhaps just when this request was sent.
                Err(error) if is_closed_connection(&error) && pause <= MAX_PAUSE => {
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                result => return result,
            }
        }
    }

    /// Posts an empty body.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.read_json(self.authorized(self.agent.post(self.url(path))).send_empty())
    }

    fn authorized<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match &self.authorization {
            Some(authorization) => request.header("authorization", authorization),
            None => request,
        }
    }

    pub(super) fn read_json<T: DeserializeOwned>(
        &self,
        reply: Result<Response<Body>, ureq::Error>,
    ) -> anyhow::Result<T> {
        self.parse(&self.read(reply)?)
    }

    fn parse<T: DeserializeOwned>(&self, content: &[u8]) -> anyhow::Result<T> {
        serde_json::from_slice(content)
            .with_context(|| format!("{}: the reply is not from a round server", self.server))
    }

    fn read(&self, reply: Result<Response<Body>, ureq::Error>) -> anyhow::Result<Vec<u8>> {
        let reply = reply.map_err(|error| {
            let problem = if error.to_string().contains("certificate") {
                "its certificate is not trusted (if the coordinator gave you a certificate, pass it with --ca)"
            } else if self.server.starts_with("http://")
                && matches!(error, ureq::Error::Protocol(_))
            {
                "the reply is not HTTP (does the server use https://?)"
            } else if self.server.starts_with("https://")
                && error.to_string().contains("InvalidContentType")
            {
                "the reply is not encrypted (does the server use http://?)"
            } else {
                "cannot reach the server"
            };
            let error = match error {
                ureq::Error::Io(error) => anyhow::Error::from(error),
                error => error.into(),
            };
            error.context(format!("{}: {problem}", self.server))
        })?;
        let status = reply.status();
        let mut content = Vec::new();
        reply
            .into_body()
            .into_reader()
            .take(MAX_REPLY_BYTES)
            .read_to_end(&mut content)
            .with_context(|| format!("{}: the reply was cut off", self.server))?;
        if status.is_success() {
            return Ok(content);
        }
        let status = status.as_u16();
        let body = serde_json::from_slice(&content).unwrap_or_else(|_| RefusalBody {
            code: format!("status_{status}"),
            message: "the reply is not from a round server".into(),
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

/// Whether the server closed the connection before it replied.
fn is_closed_connection(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kinds = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| kinds.contains(&cause.kind()))
}

fn is_loopback(server: &str) -> bool {
    let Some(rest) = server.strip_prefix("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

fn read_certificates(file: &Path) -> anyhow::Result<Vec<ureq::tls::Certificate<'static>>> {
    let pem = read_text(file)?;
    let certificates: Vec<_> = parse_pem(pem.as_bytes())
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    ensure!(!certificates.is_empty(), "{}: contains no PEM certificate", file.display());
    Ok(certificates)
}
