//! The state that all handlers share: the rounds, and what concerns connections and browsers only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use super::gates::Failures;
use super::listeners::Listeners;
use super::metrics::Metrics;
use super::reply::{Answer, Refused};
use super::sessions::Sessions;
use super::shared_replies::SharedReplies;
use crate::config::Limits;
use crate::round::Rounds;
use crate::store::StoreError;

/// The state of the server.
pub struct App {
    pub(super) rounds: Arc<Rounds>,
    pub(super) limits: Limits,
    pub(super) reads: Semaphore,
    pub(super) listeners: Arc<Listeners>,
    pub(super) shared: SharedReplies,
    pub(super) failures: Failures,
    pub(super) metrics: Metrics,
    pub(super) sessions: Sessions,
    pub(super) stopping: AtomicBool,
}

impl App {
    /// A server of these rounds.
    pub fn new(rounds: Arc<Rounds>, limits: Limits) -> Self {
        Self {
            rounds,
            limits,
            reads: Semaphore::new(limits.reads_at_once),
            listeners: Arc::new(Listeners::new(limits.listeners, limits.listeners_per_address)),
            shared: SharedReplies::default(),
            failures: Failures::default(),
            metrics: Metrics::default(),
            sessions: Sessions::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// Makes the server report that it is not ready, and disconnects listeners.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.rounds.stop();
    }

    /// Asks the rounds on a thread that may block.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Rounds) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<T> {
        self.rounds.blocking(question).await.map_err(Refused::from)
    }
}
