//! The whole server: store, solver, listeners, clock, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info};

use crate::config::{Config, ConfigError};
use crate::http::{self, App, Certificate, Listening};
use crate::hub::Hub;
use crate::round::Solver;
use crate::store::{DataFolder, Store, StoreError, StoreParts};
use crate::validator::Validator;

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An address that cannot be listened at.
    #[error("{address}: cannot be listened at: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system refused threads or signals.
    #[error("the server could not be set up: {0}")]
    System(#[from] std::io::Error),
}

/// Runs the server until SIGTERM or SIGINT; then lets requests end. `on_ready` is told the addresses that
/// clients and monitoring find it at. SIGHUP has the certificate read again.
pub fn run(
    config: &Config,
    parts: StoreParts,
    validator: Arc<dyn Validator>,
    on_ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ServeError> {
    config.check()?;
    let certificate = config.tls.as_ref().map(Certificate::read).transpose()?;
    let tls = certificate.as_ref().map(Certificate::acceptor).transpose()?;
    let store = Arc::new(Store::open(DataFolder::open(&config.data)?, parts)?);
    let hub = Arc::new(Hub::default());
    let solver =
        Solver::start_with(Arc::clone(&store), Arc::clone(&hub), config.limits.solve_memory_bytes)?;
    let app = Arc::new(App::new(store, hub, solver, validator, config.limits));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = bind(config.listen).await?;
        let address = listener.local_addr()?;
        let admin = match config.admin_listen {
            Some(admin) => Some(bind(admin).await?),
            None => None,
        };
        let admin_address = admin.as_ref().map(TcpListener::local_addr).transpose()?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (stop, stopped) = watch::channel(false);
        let wait = |mut stopped: watch::Receiver<bool>| async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        let public = Listening { listener, tls, router: http::router(Arc::clone(&app)) };
        let public = tokio::spawn(http::serve(Arc::clone(&app), public, wait(stopped.clone())));
        if let Some(listener) = admin {
            let router = http::admin_router(Arc::clone(&app));
            let listening = Listening { listener, tls: None, router };
            tokio::spawn(http::serve(Arc::clone(&app), listening, wait(stopped)));
        }
        tokio::spawn(tick(Arc::clone(&app)));
        tokio::spawn(renew(certificate, signal(SignalKind::hangup())?));
        info!(%address, "serving");
        on_ready(address, admin_address);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        info!("stopping");
        app.stop();
        let _ = stop.send(true);
        if let Err(error) = public.await {
            error!(%error, "the listener failed");
        }
        Ok::<_, ServeError>(())
    });
    // What still runs has nothing to promise: accepted is what is committed.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
}

/// Reads the certificate again at every SIGHUP. What cannot be read leaves the old one in use.
async fn renew(certificate: Option<Arc<Certificate>>, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        match certificate.as_ref().map(|certificate| certificate.reload()) {
            Some(Ok(())) => info!("the certificate was read again"),
            Some(Err(error)) => error!(%error, "the certificate was not renewed"),
            None => info!("there is no certificate to read again"),
        }
    }
}

async fn tick(app: Arc<App>) {
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        let app = Arc::clone(&app);
        match tokio::task::spawn_blocking(move || app.tick()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => error!(%error, "deadlines could not be looked after"),
            Err(error) => error!(%error, "deadlines could not be looked after"),
        }
    }
}
