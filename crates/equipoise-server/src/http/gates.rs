//! Limits on concurrent requests and on failed authentications.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::protocol::{Name, Refusal};

const MINUTE: Duration = Duration::from_secs(60);
/// Beyond this number of addresses, old failures are purged, and those of further addresses are not counted.
const MAX_ADDRESSES: usize = 10_000;
const PURGE_INTERVAL: Duration = Duration::from_secs(1);

/// Counts per key, up to a limit.
#[derive(Debug)]
pub(super) struct Counts<K>(Mutex<HashMap<K, usize>>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A counted unit, released on drop.
#[derive(Debug)]
pub(super) struct Counted<K: Eq + Hash>(Arc<Counts<K>>, K);

impl<K: Eq + Hash + Clone> Counts<K> {
    pub(super) fn acquire(self: &Arc<Self>, key: K, max: usize) -> Option<Counted<K>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key.clone()).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Counted(Arc::clone(self), key))
    }
}

impl<K: Eq + Hash> Drop for Counted<K> {
    fn drop(&mut self) {
        let mut counts = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}

pub(super) type ClientKey = (Name, Name);

/// Allows one upload per client at a time.
#[derive(Debug, Default)]
pub(super) struct ClientLocks {
    locks: Mutex<HashMap<ClientKey, Arc<AsyncMutex<()>>>>,
    waiting: Arc<Counts<ClientKey>>,
}

/// Held during an upload.
#[derive(Debug)]
pub(super) struct ClientLock {
    _guard: OwnedMutexGuard<()>,
    _counted: Counted<ClientKey>,
}

impl ClientLocks {
    /// Waits for other uploads of the client. At most `max` requests may wait.
    pub(super) async fn lock(
        &self,
        client: ClientKey,
        max: usize,
        timeout: Duration,
    ) -> Result<ClientLock, Refusal> {
        let counted = self.waiting.acquire(client.clone(), max).ok_or(Refusal::TooManyRequests)?;
        let lock = self.get(client);
        match tokio::time::timeout(timeout, lock.lock_owned()).await {
            Ok(guard) => Ok(ClientLock { _guard: guard, _counted: counted }),
            Err(_) => Err(Refusal::Busy { retry_after_seconds: 10 }),
        }
    }

    pub(super) fn try_lock(&self, client: ClientKey) -> Option<OwnedMutexGuard<()>> {
        self.get(client).try_lock_owned().ok()
    }

    fn get(&self, client: ClientKey) -> Arc<AsyncMutex<()>> {
        // Bounded by the rosters, because only authenticated clients get here.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(locks.entry(client).or_default())
    }
}

/// Failed authentications of the last minute, by address.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<RecentFailures>);

#[derive(Debug, Default)]
struct RecentFailures {
    by_address: HashMap<IpAddr, Vec<Instant>>,
    purged_at: Option<Instant>,
}

impl Failures {
    /// Records a failure. Returns a refusal if there were too many. Successful requests are never delayed.
    pub(super) fn record(&self, address: IpAddr, max: usize) -> Result<(), Refusal> {
        let now = Instant::now();
        let drop_old = |times: &mut Vec<Instant>| times.retain(|time| now - *time < MINUTE);
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = network(address);
        if recent.by_address.len() >= MAX_ADDRESSES && !recent.by_address.contains_key(&address) {
            // Not at every failure, because it takes a while.
            if recent.purged_at.is_some_and(|at| now.duration_since(at) < PURGE_INTERVAL) {
                return Ok(());
            }
            recent.purged_at = Some(now);
            recent.by_address.retain(|_, times| {
                drop_old(times);
                !times.is_empty()
            });
            if recent.by_address.len() >= MAX_ADDRESSES {
                return Ok(());
            }
        }
        let times = recent.by_address.entry(address).or_default();
        drop_old(times);
        if times.len() >= max {
            return Err(Refusal::TooManyFailures);
        }
        times.push(now);
        Ok(())
    }
}

/// Maps an address to its network: an IPv6 peer has at least 2⁶⁴ addresses, which count as one.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        },
    }
}
