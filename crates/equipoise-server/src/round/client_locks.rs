//! One upload per client at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::protocol::{ClientId, Refusal, RoundId};

/// How long a request waits for another upload of the same client.
const TIMEOUT: Duration = Duration::from_secs(8);

pub(super) type ClientKey = (RoundId, ClientId);

/// A lock per client and round. Their number is bounded by the rosters, because only authenticated clients get here.
#[derive(Debug)]
pub(super) struct ClientLocks {
    gates: Mutex<HashMap<ClientKey, Arc<Gate>>>,
    max_requests: usize,
}

#[derive(Debug)]
struct Gate {
    lock: Arc<AsyncMutex<()>>,
    /// Limits the requests that wait or hold the lock.
    requests: Arc<Semaphore>,
}

/// Held by the owner of an upload until its last write is done.
#[derive(Debug)]
pub(super) struct ClientLock {
    _guard: OwnedMutexGuard<()>,
    _request: OwnedSemaphorePermit,
}

impl ClientLocks {
    /// At most `max_requests` of one client may wait or upload.
    pub(super) fn new(max_requests: usize) -> Self {
        Self { gates: Mutex::default(), max_requests }
    }

    /// Waits for other uploads of the client.
    pub(super) async fn lock(&self, client: ClientKey) -> Result<ClientLock, Refusal> {
        let gate = self.gate(client);
        let request = Arc::clone(&gate.requests).try_acquire_owned();
        let request = request.map_err(|_| Refusal::TooManyRequests)?;
        match tokio::time::timeout(TIMEOUT, Arc::clone(&gate.lock).lock_owned()).await {
            Ok(guard) => Ok(ClientLock { _guard: guard, _request: request }),
            Err(_) => Err(Refusal::Busy { retry_after_seconds: 10 }),
        }
    }

    /// The lock, if no upload of the client is running.
    pub(super) fn try_lock(&self, client: ClientKey) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.gate(client).lock).try_lock_owned().ok()
    }

    fn gate(&self, client: ClientKey) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(client).or_insert_with(|| {
            let requests = Arc::new(Semaphore::new(self.max_requests));
            Arc::new(Gate { lock: Arc::default(), requests })
        });
        Arc::clone(gate)
    }
}
