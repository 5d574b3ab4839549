//! Connections: how many, how slow, how they end. axum's own `serve` sets no timer, without which hyper
//! waits for a request's head forever.

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

/// The address at the other end, as a request carries it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// A bound address and what is served there.
pub struct Listening {
    /// The socket.
    pub listener: TcpListener,
    /// TLS, or none on loopback.
    pub tls: Option<TlsAcceptor>,
    /// What is served.
    pub router: Router,
}

/// Serves until `stop` is there, then lets requests end for as long as the limits say.
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
                // Out of descriptors, most likely: some will be given back.
                warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let address = network(peer.ip());
        let Some(counted) = addresses.take(address, limits.connections_per_address) else {
            continue;
        };
        app.metrics.connections.fetch_add(1, Ordering::Relaxed);
        let (tls, router, watcher) = (tls.clone(), router.clone(), graceful.watcher());
        tokio::spawn(async move {
            let timeout = Duration::from_secs(limits.header_timeout_seconds);
            if let Err(error) =
                connection(stream, peer, tls, router, timeout, limits.header_bytes, watcher).await
            {
                debug!(%error, "a connection ended early");
            }
            drop((place, counted));
        });
    }
    drop(listener);
    if tokio::time::timeout(Duration::from_secs(limits.drain_seconds), graceful.shutdown())
        .await
        .is_err()
    {
        warn!("requests were cut off that did not end in time");
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    timeout: Duration,
    header_bytes: usize,
    watcher: Watcher,
) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    match tls {
        Some(tls) => {
            let stream = tokio::time::timeout(timeout, tls.accept(stream)).await??;
            http(stream, peer, router, timeout, header_bytes, watcher).await
        }
        None => http(stream, peer, router, timeout, header_bytes, watcher).await,
    }
}

async fn http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    timeout: Duration,
    header_bytes: usize,
    watcher: Watcher,
) -> Result<(), Failure> {
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer.ip()));
        request.map(axum::body::Body::new)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_buf_size(header_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    Ok(watcher.watch(connection).await?)
}
