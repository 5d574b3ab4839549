//! The whole server: store, solver, listeners, clock, and how it ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info};

use crate::config::{Config, ConfigError};
use crate::http::{self, App, Listening};
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
/// clients and monitoring find it at.
pub fn run(
    config: &Config,
    parts: StoreParts,
    validator: Arc<dyn Validator>,
    on_ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ServeError> {
    config.check()?;
    let tls = config.tls.as_ref().map(http::tls_acceptor).transpose()?;
    let store = Arc::new(Store::open(DataFolder::open(&config.data)?, parts)?);
    let hub = Arc::new(Hub::default());
    let solver = Solver::start(Arc::clone(&store), Arc::clone(&hub))?;
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
