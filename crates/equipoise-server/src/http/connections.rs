//! All open connections of a listener. When there are too many, the least deserving one makes room for the next.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::connection::{Connection, Ending, Pace, Standing};

/// A scan of all connections finds this many candidates for eviction.
const CANDIDATES: usize = 32;
/// At most one connection in this many may be blocked by a peer that does not read, because these hold most memory.
const BLOCKED_SHARE: usize = 4;
/// A shorter block is normal.
const MIN_BLOCKED: Duration = Duration::from_secs(1);
/// How long the candidates of a scan are used.
const MAX_SCAN_AGE: Duration = Duration::from_millis(100);

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    max: usize,
    max_per_network: usize,
    pace: Pace,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next_id: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    per_network: HashMap<IpAddr, usize>,
    scan: Option<Scan>,
}

/// The least deserving connections at some moment.
#[derive(Debug)]
struct Scan {
    at: Instant,
    network: Option<IpAddr>,
    candidates: VecDeque<(u64, (Standing, Instant))>,
}

/// A slot of an open connection, released on drop.
#[derive(Debug)]
pub(super) struct Slot {
    connections: Arc<Connections>,
    id: u64,
    pub(super) connection: Arc<Connection>,
}

impl Connections {
    pub(super) fn new(max: usize, max_per_network: usize, pace: Pace) -> Self {
        Self { max, max_per_network, pace, open: Mutex::default() }
    }

    /// Admits a connection, if necessary in place of a less deserving one: of the same network if that has all its
    /// slots, otherwise of any. `None` if all of those must stay open.
    pub(super) fn admit(self: &Arc<Self>, network: IpAddr, now: Instant) -> Option<Slot> {
        let mut open = self.open();
        if open.per_network.get(&network).is_some_and(|n| *n >= self.max_per_network) {
            open.evict(Some(network), now)?;
        } else if open.by_id.len() >= self.max {
            open.evict(None, now)?;
        }
        let connection = Arc::new(Connection::new(network, self.pace, now));
        let id = open.next_id;
        open.next_id += 1;
        open.by_id.insert(id, Arc::clone(&connection));
        *open.per_network.entry(network).or_default() += 1;
        Some(Slot { connections: Arc::clone(self), id, connection })
    }

    /// Evicts one connection, for example because the process has no file descriptors left.
    pub(super) fn evict_one(&self, now: Instant) {
        self.open().evict(None, now);
    }

    /// Closes connections whose peers do not read for too long. If there are many, it does not wait that long.
    pub(super) fn close_stalled(&self, now: Instant) {
        let open = self.open();
        let mut blocked = Vec::new();
        for (id, connection) in &open.by_id {
            if connection.is_overdue(now) {
                connection.end(Ending::Stalled);
            } else if let Some(time) = connection.blocked_for(now).filter(|t| *t >= MIN_BLOCKED) {
                let held = open.per_network.get(&connection.network).copied().unwrap_or(0);
                blocked.push((held, time, *id));
            }
        }
        let excess = blocked.len().saturating_sub(self.max.div_ceil(BLOCKED_SHARE));
        blocked.sort_unstable();
        for (_, _, id) in blocked.iter().rev().take(excess) {
            if let Some(connection) = open.by_id.get(id) {
                connection.end(Ending::Stalled);
            }
        }
    }

    /// Closes connections for which a stopping server does not wait.
    pub(super) fn close_when_stopping(&self, now: Instant) {
        for connection in self.open().by_id.values() {
            if let Some(ending) = connection.ending_when_stopping(now) {
                connection.end(ending);
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().remove(self.id);
    }
}

impl Open {
    /// Evicts the least deserving connection, of one network or of all.
    fn evict(&mut self, network: Option<IpAddr>, now: Instant) -> Option<()> {
        let id = match self.next_candidate(network, now) {
            Some(id) => id,
            None => {
                self.scan = Some(self.scan(network, now));
                self.next_candidate(network, now)?
            }
        };
        self.remove(id)?.end(Ending::Evicted);
        Some(())
    }

    /// The next candidate of the last scan whose standing has not changed since.
    fn next_candidate(&mut self, network: Option<IpAddr>, now: Instant) -> Option<u64> {
        let scan = self.scan.as_mut()?;
        if scan.network != network || now.duration_since(scan.at) > MAX_SCAN_AGE {
            return None;
        }
        while let Some((id, standing)) = scan.candidates.pop_front() {
            let found = self.by_id.get(&id).and_then(|connection| connection.standing(now));
            if found == Some(standing) {
                return Some(id);
            }
        }
        None
    }

    /// Finds the least deserving connections. Among equals, the network with most connections comes first, then the
    /// connection that has been stalled or idle for longest.
    fn scan(&self, network: Option<IpAddr>, now: Instant) -> Scan {
        let of_network = |c: &Connection| network.is_none_or(|network| c.network == network);
        let mut found: Vec<_> = self
            .by_id
            .iter()
            .filter(|(_, connection)| of_network(connection))
            .filter_map(|(id, connection)| {
                let (standing, since) = connection.standing(now)?;
                let held = self.per_network.get(&connection.network).copied().unwrap_or(0);
                Some((standing, Reverse(held), since, *id))
            })
            .collect();
        if found.len() > CANDIDATES {
            found.select_nth_unstable(CANDIDATES);
            found.truncate(CANDIDATES);
        }
        found.sort_unstable();
        let candidates =
            found.into_iter().map(|(standing, _, since, id)| (id, (standing, since))).collect();
        Scan { at: now, network, candidates }
    }

    fn remove(&mut self, id: u64) -> Option<Arc<Connection>> {
        let connection = self.by_id.remove(&id)?;
        if let Some(n) = self.per_network.get_mut(&connection.network) {
            *n -= 1;
            if *n == 0 {
                self.per_network.remove(&connection.network);
            }
        }
        Some(connection)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn connections(max: usize, max_per_network: usize) -> Arc<Connections> {
        let pace = Pace { timeout: 10 * SECOND, bytes_per_second: 1000 };
        Arc::new(Connections::new(max, max_per_network, pace))
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    /// The index of the one connection that was evicted.
    fn evicted(connections: &Connections, slots: &[Slot]) -> usize {
        let open = connections.open();
        let gone: Vec<usize> =
            (0..slots.len()).filter(|i| !open.by_id.contains_key(&slots[*i].id)).collect();
        assert_eq!(gone.len(), 1, "{gone:?}");
        gone[0]
    }

    #[test]
    fn a_stalled_connection_goes_first_then_the_one_idle_for_longest() {
        let now = Instant::now();
        let connections = connections(4, 4);
        let mut slots: Vec<Slot> =
            (0..4).map(|_| connections.admit(address(1), now).unwrap()).collect();
        let _busy = slots[0].connection.begin();
        slots[1].connection.received(now + SECOND);
        slots[2].connection.received(now + 2 * SECOND);
        slots[3].connection.received(now + 3 * SECOND);
        slots[3].connection.blocked(now + 3 * SECOND);
        let mut new = Vec::new();
        for (gone, at) in [(3, 8), (1, 9), (1, 10)] {
            new.push(connections.admit(address(1), now + at * SECOND).unwrap());
            assert_eq!(evicted(&connections, &slots), gone, "after {at} s");
            slots.remove(gone);
        }
    }

    #[test]
    fn running_authenticated_requests_are_never_evicted() {
        let now = Instant::now();
        let connections = connections(2, 2);
        let slots: Vec<Slot> =
            (0..2).map(|_| connections.admit(address(1), now).unwrap()).collect();
        let running: Vec<_> = slots.iter().map(|slot| slot.connection.begin()).collect();
        slots.iter().for_each(|slot| slot.connection.mark_authenticated());
        assert!(connections.admit(address(2), now).is_none());
        drop(running);
        assert!(connections.admit(address(2), now).is_some());
    }

    #[test]
    fn the_network_with_most_connections_makes_room() {
        let now = Instant::now();
        let connections = connections(5, 5);
        let mut slots = vec![connections.admit(address(1), now).unwrap()];
        for i in 0..4 {
            slots.push(connections.admit(address(2), now + (i + 1) * SECOND).unwrap());
        }
        let _new = connections.admit(address(3), now + 5 * SECOND).unwrap();
        assert_eq!(evicted(&connections, &slots), 1);
    }

    #[test]
    fn few_peers_may_block_at_once_and_the_network_with_most_connections_goes_first() {
        let now = Instant::now();
        let connections = connections(8, 8);
        let slots: Vec<Slot> = [1, 2, 2, 2]
            .map(|last| connections.admit(address(last), now).unwrap())
            .into_iter()
            .collect();
        for (i, slot) in (0..).zip(&slots) {
            slot.connection.blocked(now + i * SECOND / 10);
        }
        connections.close_stalled(now + SECOND / 2);
        assert!(slots.iter().all(|slot| !slot.connection.must_reset()));
        connections.close_stalled(now + 2 * SECOND);
        let closed: Vec<bool> = slots.iter().map(|slot| slot.connection.must_reset()).collect();
        assert_eq!(closed, [false, true, true, false]);
        connections.close_stalled(now + 11 * SECOND);
        assert!(slots.iter().all(|slot| slot.connection.must_reset()));
    }

    #[test]
    fn a_network_at_its_limit_only_evicts_its_own() {
        let now = Instant::now();
        let connections = connections(10, 2);
        let slots: Vec<Slot> = [1, 2, 2]
            .map(|last| connections.admit(address(last), now).unwrap())
            .into_iter()
            .collect();
        slots[2].connection.received(now + SECOND);
        let _new = connections.admit(address(2), now + 2 * SECOND).unwrap();
        assert_eq!(evicted(&connections, &slots), 1);
        drop(slots);
        assert_eq!(connections.open().by_id.len(), 1);
        assert_eq!(connections.open().per_network.len(), 1);
    }
}
