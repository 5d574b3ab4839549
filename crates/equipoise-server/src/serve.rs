//! Assembles and runs the server: store, solver, listeners, periodic tasks, shutdown.

mod open_files;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info, warn};

use crate::config::{Config, ConfigError};
use crate::http::{self, App, Certificate, Listening};
use crate::round::Rounds;
use crate::store::{DataFolder, Store, StoreError, StoreParts};
use crate::validator::Validator;

/// Threads for disk access. They mostly wait for the one database, so more would only use up the limits of the system.
const BLOCKING_THREADS: usize = 96;
/// Connections that wait to be accepted. In a flood, the kernel drops further ones, and clients try again a second later.
const BACKLOG: u32 = 4096;

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Invalid configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory is unusable.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server cannot listen on an address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The validator cannot validate anything, or lacks a restriction that the configuration requires.
    #[error("{0}")]
    Validator(String),
    /// Threads or signal handlers could not be set up.
    #[error("cannot start the server: {0}")]
    System(#[from] std::io::Error),
}

/// Runs the server until SIGTERM or SIGINT, then lets running requests finish. `on_ready` receives the addresses
/// for clients and for monitoring. SIGHUP reloads the certificate.
pub fn run(
    config: &Config,
    parts: StoreParts,
    validator: Arc<dyn Validator>,
    on_ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ServeError> {
    config.check()?;
    let certificate = config.tls.as_ref().map(Certificate::read).transpose()?;
    let tls = certificate.as_ref().map(Certificate::acceptor).transpose()?;
    check_validator(&*validator, config.require_sandbox)?;
    let store = Arc::new(Store::open(DataFolder::open(&config.data)?, parts)?);
    if store.rounds()?.is_empty() {
        let data = config.data.display();
        warn!(%data, "the data directory has no rounds; create one with `equipoise round new`");
    }
    let connections = open_files::allowed_connections(&config.limits);
    let rounds = Arc::new(Rounds::start(store, validator, config.limits)?);
    let app = Arc::new(App::new(Arc::clone(&rounds), config.limits));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listener = bind(config.listen)?;
        let address = listener.local_addr()?;
        let admin = match config.admin_listen {
            Some(admin) => Some(bind(admin)?),
            None => None,
        };
        let admin_address = admin.as_ref().map(TcpListener::local_addr).transpose()?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let (stop, stopped) = watch::channel(false);
        let wait = |mut stopped: watch::Receiver<bool>| async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        let router = http::router(Arc::clone(&app));
        let public = Listening { listener, tls, router, connections };
        let public = tokio::spawn(http::serve(Arc::clone(&app), public, wait(stopped.clone())));
        if let Some(listener) = admin {
            let router = http::admin_router(Arc::clone(&app));
            let connections = open_files::ADMIN_CONNECTIONS;
            let listening = Listening { listener, tls: None, router, connections };
            tokio::spawn(http::serve(Arc::clone(&app), listening, wait(stopped)));
        }
        tokio::spawn(tick(rounds));
        tokio::spawn(reload_on_hangup(certificate, signal(SignalKind::hangup())?));
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
    // Nothing still running matters: a submission is accepted once it is committed.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Logs how the validator is restricted.
fn check_validator(validator: &dyn Validator, require_sandbox: bool) -> Result<(), ServeError> {
    let restrictions = validator.self_test().map_err(|reason| {
        ServeError::Validator(format!("the validator does not work on this system: {reason}"))
    })?;
    let (mut active, mut missing) = (Vec::new(), Vec::new());
    for restriction in restrictions {
        let name = restriction.name;
        match restriction.missing {
            None => active.push(name),
            Some(reason) => {
                warn!(restriction = %name, %reason, "the validator lacks a restriction");
                missing.push(format!("{name} ({reason})"));
            }
        }
    }
    info!(active = active.join(", "), missing = missing.join(", "), "the validator's sandbox");
    if require_sandbox && !missing.is_empty() {
        return Err(ServeError::Validator(format!(
            "require_sandbox is set, but the validator lacks: {}. Use a kernel that offers them, or unset require_sandbox.",
            missing.join(", ")
        )));
    }
    Ok(())
}

fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let listen = || {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|source| ServeError::Listen { address, source })
}

/// Reloads the certificate at every SIGHUP. If that fails, the old one stays in use.
async fn reload_on_hangup(certificate: Option<Arc<Certificate>>, mut hangup: Signal) {
    while hangup.recv().await.is_some() {
        match certificate.as_ref().map(|certificate| certificate.reload()) {
            Some(Ok(())) => info!("certificate reloaded"),
            Some(Err(error)) => error!(%error, "cannot reload the certificate"),
            None => info!("no certificate to reload"),
        }
    }
}

/// Closes rounds that are due every second, and removes expired uploads every minute.
async fn tick(rounds: Arc<Rounds>) {
    let mut interval = tokio::time::interval(Duration::from_secs(1));
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for second in 0_u64.. {
        interval.tick().await;
        let checked = rounds.blocking(move |rounds| {
            rounds.close_due_rounds()?;
            match second.is_multiple_of(60) {
                true => rounds.remove_expired_uploads(),
                false => Ok(()),
            }
        });
        if let Err(error) = checked.await {
            error!(%error, "periodic checks failed");
        }
    }
}
