//! Accepts connections, with limits on their number and speed. `axum::serve` sets no timer, and without one hyper waits
//! forever for a request head.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;
use tracing::{debug, warn};

use super::app::App;
use super::gates::{Counts, network};
use crate::config::Limits;

/// The peer's address, as an extension of a request.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// A bound address and its router.
pub struct Listening {
    /// The socket.
    pub listener: TcpListener,
    /// TLS; `None` on loopback.
    pub tls: Option<TlsAcceptor>,
    /// The routes.
    pub router: Router,
}

/// Serves until `stop` completes, then gives running requests time to finish.
pub async fn serve(app: Arc<App>, listening: Listening, stop: impl Future<Output = ()>) {
    let Listening { listener, tls, router } = listening;
    let limits = app.limits;
    let connections = Arc::new(Semaphore::new(limits.connections));
    let addresses = Arc::new(Counts::default());
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Probably out of file descriptors. Wait until some are released.
                warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(slot) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let address = network(peer.ip());
        let Some(counted) = addresses.acquire(address, limits.connections_per_address) else {
            continue;
        };
        app.metrics.connections.fetch_add(1, Ordering::Relaxed);
        let (tls, router, watcher) = (tls.clone(), router.clone(), graceful.watcher());
        tokio::spawn(async move {
            if let Err(error) = connection(stream, peer, tls, router, limits, watcher).await {
                debug!(%error, "connection ended early");
            }
            drop((slot, counted));
        });
    }
    drop(listener);
    let drain = Duration::from_secs(limits.drain_seconds);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        warn!("some requests did not finish in time and were aborted");
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    watcher: Watcher,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let timeout = Duration::from_secs(limits.header_timeout_seconds);
    match tls {
        Some(tls) => {
            let stream = tokio::time::timeout(timeout, tls.accept(stream)).await??;
            http(stream, peer, router, limits, watcher).await
        }
        None => http(stream, peer, router, limits, watcher).await,
    }
}

async fn http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    limits: Limits,
    watcher: Watcher,
) -> Result<(), Failure> {
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        request.map(axum::body::Body::new)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits.header_timeout_seconds))
        .max_buf_size(limits.header_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    Ok(watcher.watch(connection).await?)
}
