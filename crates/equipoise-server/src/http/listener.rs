//! Accepts connections, with limits on their number and speed. `axum::serve` sets no timer, and without one hyper waits
//! forever for a request head.

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;
use tracing::{debug, warn};

use super::app::App;
use super::connection::{Connection, Ending, Pace};
use super::connections::{Connections, Slot};
use super::gates::network;
use super::metrics::Metrics;
use super::monitored_stream::MonitoredStream;
use super::tracked_body::TrackedBody;
use crate::config::Limits;

/// How often stalled connections are looked for.
const SWEEP: Duration = Duration::from_millis(500);
/// After an error of `accept`.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Encrypted bytes that wait for a slow peer.
const TLS_BUFFER_BYTES: usize = 16 << 10;

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
    /// Maximum number of connections.
    pub connections: usize,
}

/// Serves until `stop` completes, then gives running requests time to finish.
pub async fn serve(app: Arc<App>, listening: Listening, stop: impl Future<Output = ()>) {
    let Listening { listener, tls, router, connections } = listening;
    let limits = app.limits;
    let pace = Pace {
        timeout: Duration::from_secs(limits.write_timeout_seconds),
        bytes_per_second: limits.least_bytes_per_second,
    };
    let connections = Arc::new(Connections::new(connections, limits.connections_per_address, pace));
    let graceful = GracefulShutdown::new();
    let mut sweep = tokio::time::interval(SWEEP);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = sweep.tick() => {
                connections.close_stalled(Instant::now());
                continue;
            }
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Probably out of file descriptors.
                warn!(%error, "cannot accept a connection");
                connections.evict_one(Instant::now());
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        app.metrics.connections.fetch_add(1, Ordering::Relaxed);
        let Some(slot) = connections.admit(network(peer.ip()), Instant::now()) else {
            app.metrics.refused_connections.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let accepted = Accepted { peer, tls: tls.clone(), router: router.clone(), limits };
        tokio::spawn(run(Arc::clone(&app), accepted, stream, slot, graceful.watcher()));
    }
    drop(listener);
    let drained = async {
        let finished = graceful.shutdown();
        tokio::pin!(finished);
        loop {
            tokio::select! {
                () = &mut finished => break,
                _ = sweep.tick() => connections.close_when_stopping(Instant::now()),
            }
        }
    };
    if tokio::time::timeout(Duration::from_secs(limits.drain_seconds), drained).await.is_err() {
        warn!("some requests did not finish in time and were aborted");
    }
}

/// What a new connection needs to be served.
struct Accepted {
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
}

/// Serves a connection until it ends or is to be closed.
async fn run(app: Arc<App>, accepted: Accepted, stream: TcpStream, slot: Slot, watcher: Watcher) {
    let connection = &slot.connection;
    // On the heap, so that tasks stay small.
    let served = Box::pin(accepted.serve(stream, Arc::clone(connection), watcher));
    tokio::select! {
        biased;
        ending = connection.ended() => count(&app.metrics, ending),
        result = served => if let Err(error) = result {
            if is_timeout(&*error) {
                app.metrics.slow_requests.fetch_add(1, Ordering::Relaxed);
            }
            debug!(%error, "connection ended early");
        },
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Accepted {
    async fn serve(
        self,
        stream: TcpStream,
        connection: Arc<Connection>,
        watcher: Watcher,
    ) -> Result<(), Failure> {
        let kernel_timeout = Duration::from_secs(2 * self.limits.write_timeout_seconds);
        let stream = MonitoredStream::new(stream, Arc::clone(&connection), kernel_timeout)?;
        let timeout = Duration::from_secs(self.limits.header_timeout_seconds);
        match &self.tls {
            Some(tls) => {
                let accept = tls.accept_with(stream, |session| {
                    session.set_buffer_limit(Some(TLS_BUFFER_BYTES));
                });
                let stream = tokio::time::timeout(timeout, accept).await??;
                self.http(stream, connection, watcher).await
            }
            None => self.http(stream, connection, watcher).await,
        }
    }

    async fn http(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: Arc<Connection>,
        watcher: Watcher,
    ) -> Result<(), Failure> {
        let Self { peer, router, limits, .. } = self;
        let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
            let exchange = connection.begin();
            request.extensions_mut().insert(Peer(peer.ip()));
            request.extensions_mut().insert(Arc::clone(&connection));
            let response = router.clone().oneshot(request.map(Body::new));
            async move {
                let response: Result<_, Infallible> = response.await;
                response.map(|response| response.map(|body| TrackedBody::new(body, exchange)))
            }
        });
        let http = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(limits.header_timeout_seconds))
            .max_buf_size(limits.header_bytes)
            .serve_connection(TokioIo::new(stream), service);
        Ok(watcher.watch(http).await?)
    }
}

fn count(metrics: &Metrics, ending: Ending) {
    let counter = match ending {
        Ending::Evicted => &metrics.evicted_connections,
        Ending::Stalled => &metrics.stalled_connections,
        Ending::Stopping => return,
    };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Whether a TLS handshake or a request head took too long.
fn is_timeout(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.is::<tokio::time::error::Elapsed>()
        || error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout)
}
