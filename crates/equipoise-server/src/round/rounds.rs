//! The rounds of a server, and the resources that they share.

use std::sync::{Arc, RwLock};

use tokio::sync::{Semaphore, broadcast};
use tracing::error;

use super::arrivals::Arrivals;
use super::client_locks::ClientLocks;
use super::counters::Counters;
use super::hub::Hub;
use super::refused_uploads::{RefusedUpload, RefusedUploads, is_about_the_upload};
use super::solver::{Solver, SolverHandle};
use crate::config::Limits;
use crate::protocol::{Manifest, Refusal, RoundId};
use crate::store::{Store, StoreError};
use crate::validator::Validator;

/// All rounds in a data directory.
pub struct Rounds {
    pub(super) store: Arc<Store>,
    pub(super) hub: Arc<Hub>,
    pub(super) solver: SolverHandle,
    pub(super) validator: Arc<dyn Validator>,
    pub(super) limits: Limits,
    pub(super) upload_slots: Arc<Semaphore>,
    pub(super) client_locks: ClientLocks,
    pub(super) arrivals: Arrivals,
    /// Read by uploads between the first rename of a file and the commit; written to remove files without a row.
    pub(super) persisting: RwLock<()>,
    pub(super) refused: RefusedUploads,
    pub(super) counters: Counters,
}

impl Rounds {
    /// Takes over an open store, and starts solving the rounds that an earlier process left unsolved.
    pub fn start(
        store: Arc<Store>,
        validator: Arc<dyn Validator>,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let hub = Arc::new(Hub::default());
        let solver = Solver::start(Arc::clone(&store), Arc::clone(&hub))?;
        Ok(Self {
            store,
            hub,
            solver,
            validator,
            limits,
            upload_slots: Arc::new(Semaphore::new(limits.uploads_at_once)),
            client_locks: ClientLocks::new(limits.requests_per_client),
            arrivals: Arrivals::default(),
            persisting: RwLock::default(),
            refused: RefusedUploads::default(),
            counters: Counters::default(),
        })
    }

    /// Runs blocking work, such as disk access, on a separate thread. The work runs to its end even if the caller's
    /// future is dropped.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let this = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&this)).await {
            Ok(result) => result,
            Err(error) => {
                error!(%error, "task failed");
                Err(Refusal::Internal.into())
            }
        }
    }

    /// Subscribes to changes of rounds; `None` if the server is stopping.
    pub(crate) fn subscribe(&self) -> Option<broadcast::Receiver<RoundId>> {
        self.hub.listen()
    }

    /// The number of changes so far. What was computed before the last one is out of date.
    pub(crate) fn n_changes(&self) -> u64 {
        self.hub.n_changes()
    }

    /// Disconnects all subscribers.
    pub(crate) fn stop(&self) {
        self.hub.stop();
    }

    /// What has been counted since the server started.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Number of uploads in progress.
    pub(crate) fn n_uploads(&self) -> usize {
        self.limits.uploads_at_once - self.upload_slots.available_permits()
    }

    /// Records a refused upload of an authenticated client, if the refusal is about the file or its timing.
    pub(crate) fn record_refusal(&self, manifest: &Manifest, refusal: &Refusal) {
        if is_about_the_upload(refusal) {
            let (client, at) = (manifest.client.clone(), self.store.clock().now());
            let upload = RefusedUpload { client, code: refusal.code(), at };
            self.refused.record(&manifest.round, upload);
        }
    }

    /// The latest refused uploads of a round, latest first.
    pub(crate) fn refused_uploads(&self, round: &RoundId) -> Vec<RefusedUpload> {
        self.refused.latest(round)
    }
}
