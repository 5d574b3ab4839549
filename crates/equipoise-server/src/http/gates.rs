//! Who may do how much at once.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::protocol::{Name, Refusal};

const MINUTE: Duration = Duration::from_secs(60);
/// Addresses whose failures are remembered; beyond it the table is emptied of old ones.
const MAX_ADDRESSES: usize = 10_000;

/// Counts things per key, up to a limit.
#[derive(Debug)]
pub(super) struct Counts<K>(Mutex<HashMap<K, usize>>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// One of the things counted; given back when dropped.
#[derive(Debug)]
pub(super) struct Counted<K: Eq + Hash>(Arc<Counts<K>>, K);

impl<K: Eq + Hash + Clone> Counts<K> {
    pub(super) fn take(self: &Arc<Self>, key: K, most: usize) -> Option<Counted<K>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key.clone()).or_default();
        if *count >= most {
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

/// A client of a round.
pub(super) type Who = (Name, Name);

/// One upload of a client at a time; the others wait for it.
#[derive(Debug, Default)]
pub(super) struct ClientLocks {
    locks: Mutex<HashMap<Who, Arc<AsyncMutex<()>>>>,
    waiting: Arc<Counts<Who>>,
}

/// The right to upload for a client.
#[derive(Debug)]
pub(super) struct ClientLock {
    _guard: OwnedMutexGuard<()>,
    _counted: Counted<Who>,
}

impl ClientLocks {
    /// Waits for the right, at most `patience`.
    pub(super) async fn lock(
        &self,
        who: Who,
        most: usize,
        patience: Duration,
    ) -> Result<ClientLock, Refusal> {
        let too_many = Refusal::TooMany { whom: "client", retry_after_seconds: 5 };
        let counted = self.waiting.take(who.clone(), most).ok_or(too_many)?;
        let lock = self.of(who);
        match tokio::time::timeout(patience, lock.lock_owned()).await {
            Ok(guard) => Ok(ClientLock { _guard: guard, _counted: counted }),
            Err(_) => Err(Refusal::Busy { retry_after_seconds: 10 }),
        }
    }

    /// The right, if nobody has it.
    pub(super) fn try_lock(&self, who: Who) -> Option<OwnedMutexGuard<()>> {
        self.of(who).try_lock_owned().ok()
    }

    fn of(&self, who: Who) -> Arc<AsyncMutex<()>> {
        // Bounded by the rosters: a lock is asked for after authentication only.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(locks.entry(who).or_default())
    }
}

/// Failed authentications of the last minute, by address.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<HashMap<IpAddr, Vec<Instant>>>);

impl Failures {
    /// Notes a failure; says whether there were too many. Whoever authenticates is never held up.
    pub(super) fn note(&self, address: IpAddr, most: usize) -> Result<(), Refusal> {
        let now = Instant::now();
        let recent = |times: &mut Vec<Instant>| times.retain(|time| now - *time < MINUTE);
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MAX_ADDRESSES {
            failures.retain(|_, times| {
                recent(times);
                !times.is_empty()
            });
        }
        let times = failures.entry(network(address)).or_default();
        recent(times);
        if times.len() >= most {
            return Err(Refusal::TooManyFailures { retry_after_seconds: MINUTE.as_secs() });
        }
        times.push(now);
        Ok(())
    }
}

/// An IPv6 peer has 2⁶⁴ addresses at least: they count as one.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        },
    }
}
