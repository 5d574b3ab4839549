//! Limits on connections and on failed authentications.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::protocol::Refusal;

const MINUTE: Duration = Duration::from_secs(60);
/// Beyond this number of addresses, old failures are purged.
const MAX_ADDRESSES: usize = 10_000;

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

/// Failed authentications of the last minute, by address.
#[derive(Debug, Default)]
pub(super) struct Failures(Mutex<HashMap<IpAddr, Vec<Instant>>>);

impl Failures {
    /// Records a failure. Returns a refusal if there were too many. Successful requests are never delayed.
    pub(super) fn record(&self, address: IpAddr, max: usize) -> Result<(), Refusal> {
        let now = Instant::now();
        let drop_old = |times: &mut Vec<Instant>| times.retain(|time| now - *time < MINUTE);
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MAX_ADDRESSES {
            failures.retain(|_, times| {
                drop_old(times);
                !times.is_empty()
            });
        }
        let times = failures.entry(network(address)).or_default();
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
