//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use tracing::{error, info};

use super::gates::{ClientLocks, Failures};
use super::listeners::Listeners;
use super::metrics::Metrics;
use super::refused_uploads::RefusedUploads;
use super::reply::{Answer, Refused};
use super::sessions::Sessions;
use super::shared_replies::SharedReplies;
use crate::config::Limits;
use crate::hub::Hub;
use crate::pages::Action;
use crate::protocol::{LOG_FILES, Name, Refusal, RoundInfo, RoundState};
use crate::round::SolverHandle;
use crate::store::{CloseReason, Store, StoreError, remove_if_present};
use crate::validator::Validator;

/// Expired uploads are removed once a minute.
const TICKS_PER_CLEANUP: u64 = 60;

/// The state of the server.
pub struct App {
    pub(super) store: Arc<Store>,
    pub(super) hub: Arc<Hub>,
    pub(super) solver: SolverHandle,
    pub(super) validator: Arc<dyn Validator>,
    pub(super) limits: Limits,
    pub(super) uploads: Arc<Semaphore>,
    pub(super) reads: Arc<Semaphore>,
    pub(super) listeners: Arc<Listeners>,
    pub(super) shared: SharedReplies,
    pub(super) clients: ClientLocks,
    pub(super) failures: Failures,
    pub(super) metrics: Metrics,
    pub(super) refused: RefusedUploads,
    pub(super) sessions: Sessions,
    pub(super) stopping: AtomicBool,
    ticks: AtomicU64,
}

impl App {
    /// A server over an open store.
    pub fn new(
        store: Arc<Store>,
        hub: Arc<Hub>,
        solver: SolverHandle,
        validator: Arc<dyn Validator>,
        limits: Limits,
    ) -> Self {
        Self {
            store,
            hub,
            solver,
            validator,
            limits,
            uploads: Arc::new(Semaphore::new(limits.uploads_at_once)),
            reads: Arc::new(Semaphore::new(limits.reads_at_once)),
            listeners: Arc::new(Listeners::new(limits.listeners, limits.listeners_per_address)),
            shared: SharedReplies::default(),
            clients: ClientLocks::default(),
            failures: Failures::default(),
            metrics: Metrics::default(),
            refused: RefusedUploads::default(),
            sessions: Sessions::default(),
            stopping: AtomicBool::new(false),
            ticks: AtomicU64::new(0),
        }
    }

    /// Makes the server report that it is not ready, and disconnects listeners.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.hub.stop();
    }

    /// Runs blocking work, such as disk access, on a separate thread.
    pub(super) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<T> {
        let this = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&this)).await {
            Ok(result) => Ok(result?),
            Err(error) => {
                error!(%error, "task failed");
                Err(Refused(Refusal::Internal))
            }
        }
    }

    pub(super) fn info(&self, round: &Name) -> Result<RoundInfo, StoreError> {
        let row = self.store.round(round)?;
        let spec = &row.spec;
        let mut files = Vec::new();
        if row.state == RoundState::Published {
            files.extend(self.store.artefacts(round)?.into_iter().map(|(name, _)| name));
            files.extend(LOG_FILES.map(str::to_owned));
        }
        Ok(RoundInfo {
            round: round.clone(),
            audience: spec.audience.clone(),
            state: row.state,
            schema_sha256: spec.schema_sha256,
            server_key: self.store.key().public(),
            n_clients: row.n_clients,
            n_submissions: row.n_submissions,
            minimum: spec.minimum,
            deadline: spec.deadline,
            limits: spec.limits.public(),
            progress: self.hub.progress(round),
            reason: row.reason,
            refused: self.refused.counts(round),
            files,
        })
    }

    /// Closes a round and queues its solve.
    fn close(&self, round: &Name, by: CloseReason) -> Result<(), StoreError> {
        let state = self.store.close_round(round, by)?;
        info!(%round, ?by, %state, "round closed");
        self.hub.notify(round);
        if state == RoundState::Closed {
            self.solver.solve(round);
        }
        self.remove_idle_parts(round, None)
    }

    pub(super) fn perform(&self, round: &Name, action: &Action) -> Result<(), StoreError> {
        match action {
            Action::Open => self.store.open_round(round)?,
            Action::Close => self.close(round, CloseReason::Command)?,
            Action::Abort => {
                self.store.abort_round(round, "aborted by the coordinator")?;
                self.remove_idle_parts(round, None)?;
            }
            Action::Revoke(client) => {
                self.store.revoke_key(round, client)?;
                // The round may be complete without this client.
                self.close_if_full(round)?;
            }
        }
        self.hub.notify(round);
        Ok(())
    }

    pub(super) fn close_if_full(&self, round: &Name) -> Result<(), StoreError> {
        let row = self.store.round(round)?;
        if row.state == RoundState::Open
            && row.n_pending == 0
            && row.n_submissions >= row.spec.minimum
        {
            self.close(round, CloseReason::FullRoster)?;
        }
        Ok(())
    }

    /// Removes partial uploads, either all or only those older than this. A running upload is left alone.
    pub(super) fn remove_idle_parts(
        &self,
        round: &Name,
        older_than: Option<Duration>,
    ) -> Result<(), StoreError> {
        let is_old = |path: &std::path::Path| {
            let Some(age) = older_than else { return true };
            let modified = path.metadata().and_then(|found| found.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|d| d > age))
        };
        for (key, _) in self.store.roster(round)? {
            let Some(_lock) = self.clients.try_lock((round.clone(), key.name().clone())) else {
                continue;
            };
            let parts = self.store.folder().parts_of(round, key.name());
            parts.iter().filter(|path| is_old(path)).for_each(|path| remove_if_present(path));
        }
        Ok(())
    }

    /// Handles deadlines, full rosters and expired uploads. Called every second.
    pub fn tick(&self) -> Result<(), StoreError> {
        let cleanup = self.ticks.fetch_add(1, Ordering::Relaxed).is_multiple_of(TICKS_PER_CLEANUP);
        for round in self.refused.take_changed() {
            self.hub.notify(&round);
        }
        for round in self.store.rounds()? {
            let row = self.store.round(&round)?;
            if row.state != RoundState::Open {
                continue;
            }
            if row.spec.deadline.is_some_and(|at| self.store.clock().now() >= at) {
                self.close(&round, CloseReason::Deadline)?;
            } else {
                self.close_if_full(&round)?;
            }
            if cleanup {
                let expiry = Duration::from_secs(self.limits.upload_expiry_seconds);
                self.remove_idle_parts(&round, Some(expiry))?;
            }
        }
        Ok(())
    }
}
