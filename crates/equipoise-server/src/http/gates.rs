//! Limits on connections and on failed authentications.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::protocol::Refusal;

const MINUTE: Duration = Duration::from_secs(60);
/// Beyond this number of addresses, old failures are purged, and those of further addresses are not counted.
const MAX_ADDRESSES: usize = 10_000;
const PURGE_INTERVAL: Duration = Duration::from_secs(1);

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
