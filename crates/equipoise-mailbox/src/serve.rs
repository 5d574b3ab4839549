//! Starting and stopping the mailbox.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use axum_server::accept::Accept;
use axum_server::tls_rustls::RustlsAcceptor;
use axum_server::{Handle, Server};
use equipoise_round::PublicKey;
use hyper_util::rt::TokioTimer;
use tokio::sync::Semaphore;

use crate::connection::Limited;
use crate::rounds::{Rounds, open_key};
use crate::routes::{App, router};
pub use crate::tls::TlsFiles;

/// How long a request's head may take.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request may take.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(2000);
/// How long open requests may go on when the mailbox stops.
const GRACE: Duration = Duration::from_secs(10);
/// Memory for a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// Maximum length of any body: published files, and room for the log.
pub(crate) const MAX_BODY: usize = 300 << 20;
/// Uploads at once.
const UPLOADS: usize = 16;

/// How to serve.
#[derive(Debug)]
pub struct Options {
    /// The folder of the rounds and of the mailbox's key.
    pub folder: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// The certificate; without one, plain HTTP behind a proxy or on loopback.
    pub tls: Option<TlsFiles>,
    /// The only coordinator whose rounds are taken.
    pub coordinator: PublicKey,
    /// The address that invitations name, `https://` and a host.
    pub address: String,
    /// Other names that requests may use as their host.
    pub hosts: Vec<String>,
}

/// Why the mailbox cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The folder or the key.
    #[error(transparent)]
    Round(#[from] equipoise_round::Error),
    /// The certificate or its key.
    #[error("{}: {problem}", file.display())]
    Tls {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The network.
    #[error("cannot listen on {listen}: {source}")]
    Listen {
        /// Where.
        listen: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// Serves until `stop`, then lets open requests finish. `ready` gets the address once the rounds are checked.
pub async fn serve(
    options: Options,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let Options { folder, listen, tls, coordinator, address, hosts } = options;
    let key = open_key(&folder, &address)?;
    let rounds = Rounds::open(&folder, key, coordinator)?;
    let address = address.trim_end_matches('/').to_owned();
    let hosts = hosts.into_iter().chain([host_of(&address)]).collect();
    let app = App { rounds, hosts, uploads: Semaphore::new(UPLOADS), address };
    let failed = |source| ServeError::Listen { listen, source };
    let listener = TcpListener::bind(listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    let handle = Handle::new();
    let stopped = handle.clone();
    tokio::spawn(async move {
        stop.await;
        stopped.graceful_shutdown(Some(GRACE));
    });
    let server = axum_server::from_tcp(listener).map_err(failed)?.handle(handle);
    let served = match tls {
        None => run(server.acceptor(Limited::new()), app).await,
        Some(files) => {
            let config = files.config()?;
            tokio::spawn(files.watch(config.clone()));
            run(server.acceptor(RustlsAcceptor::new(config).acceptor(Limited::new())), app).await
        }
    };
    served.map_err(failed)
}

async fn run<A>(server: Server<SocketAddr, A>, app: App) -> io::Result<()>
where
    A: Accept<tokio::net::TcpStream, axum::Router> + Clone + Send + Sync + 'static,
    A::Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send,
    A::Service:
        axum_server::service::SendService<axum::http::Request<hyper::body::Incoming>> + Send,
    A::Future: Send,
{
    let mut server = server.http1_only();
    server
        .http_builder()
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEAD_BYTES);
    server.serve(router(app).into_make_service()).await
}

/// The host of an address.
fn host_of(address: &str) -> String {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name.to_owned(),
        _ => host.to_owned(),
    }
}
