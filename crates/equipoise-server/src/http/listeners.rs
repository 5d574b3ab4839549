//! Limits event streams, and shares them fairly between addresses.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Between addresses with equally many streams, only a stream older than this makes room for another.
const MIN_AGE: Duration = Duration::from_secs(60);

/// The open event streams.
#[derive(Debug)]
pub(super) struct Listeners {
    max: usize,
    max_per_network: usize,
    open: Mutex<Vec<Open>>,
}

#[derive(Debug)]
struct Open {
    network: IpAddr,
    since: Instant,
    end: Arc<Notify>,
}

/// An open event stream, released on drop.
#[derive(Debug)]
pub(super) struct Listener {
    listeners: Arc<Listeners>,
    /// Notified when the stream must end.
    pub(super) end: Arc<Notify>,
}

impl Listeners {
    pub(super) fn new(max: usize, max_per_network: usize) -> Self {
        Self { max, max_per_network, open: Mutex::default() }
    }

    /// The number of open streams.
    pub(super) fn len(&self) -> usize {
        self.open().len()
    }

    /// Admits a stream. If all are taken, the oldest stream of the address that has most of them ends, provided that
    /// this address has more than the new one will have. `None` if there is no such stream.
    pub(super) fn admit(self: &Arc<Self>, network: IpAddr, now: Instant) -> Option<Listener> {
        let mut open = self.open();
        let mut held: HashMap<IpAddr, usize> = HashMap::new();
        for stream in open.iter() {
            *held.entry(stream.network).or_default() += 1;
        }
        let own = held.get(&network).copied().unwrap_or(0);
        if own >= self.max_per_network {
            return None;
        }
        if open.len() >= self.max {
            // Streams are in order of age, and the first of several maxima wins after reversing.
            let worst = (0..open.len()).rev().max_by_key(|i| held.get(&open[*i].network))?;
            let most = held.get(&open[worst].network).copied().unwrap_or(0);
            let is_old = now.duration_since(open[worst].since) >= MIN_AGE;
            if most <= own + 1 && !(most > own && is_old) {
                return None;
            }
            open.remove(worst).end.notify_one();
        }
        let end = Arc::new(Notify::new());
        open.push(Open { network, since: now, end: Arc::clone(&end) });
        Some(Listener { listeners: Arc::clone(self), end })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listeners.open().retain(|open| !Arc::ptr_eq(&open.end, &self.end));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// The addresses of the open streams, in order of age.
    fn open(listeners: &Listeners) -> Vec<u8> {
        let last = |address: IpAddr| match address {
            IpAddr::V4(v4) => v4.octets()[3],
            IpAddr::V6(_) => 0,
        };
        listeners.open().iter().map(|stream| last(stream.network)).collect()
    }

    #[test]
    fn an_address_cannot_take_more_than_its_share() {
        let listeners = Arc::new(Listeners::new(4, 2));
        let now = Instant::now();
        let held: Vec<Option<Listener>> =
            (0..3).map(|_| listeners.admit(address(1), now)).collect();
        assert_eq!(held.iter().flatten().count(), 2);
        assert!(listeners.admit(address(2), now).is_some());
        drop(held);
        assert_eq!(listeners.len(), 0);
    }

    #[test]
    fn when_all_are_taken_the_address_with_most_streams_makes_room() {
        let listeners = Arc::new(Listeners::new(4, 3));
        let now = Instant::now();
        let _held: Vec<_> =
            [1, 2, 2, 2].map(|last| listeners.admit(address(last), now).unwrap()).into();
        let _new = listeners.admit(address(3), now).unwrap();
        assert_eq!(open(&listeners), [1, 2, 2, 3]);
        let _new = listeners.admit(address(4), now).unwrap();
        assert_eq!(open(&listeners), [1, 2, 3, 4]);
        // Everyone has one: only an old stream makes room, and only for an address that has none.
        assert!(listeners.admit(address(5), now).is_none());
        let later = now + MIN_AGE;
        assert!(listeners.admit(address(4), later).is_none());
        let _new = listeners.admit(address(5), later).unwrap();
        assert_eq!(open(&listeners), [2, 3, 4, 5]);
    }
}
