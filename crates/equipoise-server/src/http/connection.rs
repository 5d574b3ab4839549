//! One connection: how its peer behaves, and whether it may be closed to make room for another.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How fast a peer must read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// How long a peer may accept no bytes.
    pub(super) timeout: Duration,
    pub(super) bytes_per_second: u64,
}

/// Why the server closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Another connection needs its slot.
    Evicted,
    /// The peer does not read, or too slowly.
    Stalled,
    /// The server is stopping, and no request is running.
    Stopping,
}

/// What a connection is worth. The least deserving comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// The peer has not accepted bytes for half the write timeout.
    Stalled,
    /// No request was received yet: perhaps a slow TLS handshake or request head.
    Silent,
    /// No request is running, and none was authenticated.
    Idle,
    /// A request without authentication is running.
    Busy,
    /// The connection was accepted a moment ago, and its peer has not sent a request yet.
    New,
    /// The same, but its peer has sent a request. It had no chance yet to authenticate.
    Prompt,
    /// An earlier request was authenticated.
    Trusted,
}

/// How long a connection counts as new.
const NEW: Duration = Duration::from_secs(2);

/// The state of a connection. It is also an extension of its requests.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) network: IpAddr,
    pace: Pace,
    accepted: Instant,
    activity: Mutex<Activity>,
    close: Notify,
}

#[derive(Debug)]
struct Activity {
    /// When bytes last moved in either direction, or a request ended.
    last: Instant,
    /// Since when the peer has not accepted bytes that are ready to be sent.
    blocked_since: Option<Instant>,
    /// How long the peer may still block writes. The bytes that it accepts earn more time.
    patience: Duration,
    exchange: Option<Exchange>,
    /// The best of the earlier requests.
    earlier: Option<Exchange>,
    ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exchange {
    Anonymous,
    Authenticated,
}

impl Connection {
    pub(super) fn new(network: IpAddr, pace: Pace, now: Instant) -> Self {
        let activity = Activity {
            last: now,
            blocked_since: None,
            patience: pace.timeout,
            exchange: None,
            earlier: None,
            ending: None,
        };
        Self { network, pace, accepted: now, activity: Mutex::new(activity), close: Notify::new() }
    }

    pub(super) fn received(&self, now: Instant) {
        self.activity().last = now;
    }

    /// Records bytes that the peer accepted.
    pub(super) fn sent(&self, bytes: usize, now: Instant) {
        let mut activity = self.activity();
        if let Some(since) = activity.blocked_since.take() {
            activity.patience = activity.patience.saturating_sub(now.duration_since(since));
        }
        let earned = bytes as u64 * 1_000_000 / self.pace.bytes_per_second;
        activity.patience =
            (activity.patience + Duration::from_micros(earned)).min(self.pace.timeout);
        activity.last = now;
    }

    /// Records that the peer does not accept more bytes for now.
    pub(super) fn blocked(&self, now: Instant) {
        self.activity().blocked_since.get_or_insert(now);
    }

    /// How long the peer has not accepted any bytes.
    pub(super) fn blocked_for(&self, now: Instant) -> Option<Duration> {
        self.activity().blocked_since.map(|since| now.duration_since(since))
    }

    /// Starts a request. It runs until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> RunningExchange {
        self.activity().exchange = Some(Exchange::Anonymous);
        RunningExchange(Arc::clone(self))
    }

    /// Records that the running request is authenticated. Its connection is not closed to make room.
    pub(super) fn mark_authenticated(&self) {
        let mut activity = self.activity();
        if activity.exchange.is_some() {
            activity.exchange = Some(Exchange::Authenticated);
        }
    }

    /// What the connection is worth, and since when; `None` if it must stay open.
    pub(super) fn standing(&self, now: Instant) -> Option<(Standing, Instant)> {
        let activity = self.activity();
        if let Some(since) = activity.blocked_since
            && now.duration_since(since) >= self.pace.timeout / 2
        {
            return Some((Standing::Stalled, since));
        }
        let is_new = now.duration_since(self.accepted) < NEW;
        let standing = match (activity.exchange, activity.earlier) {
            (Some(Exchange::Authenticated), _) => return None,
            (None, Some(Exchange::Authenticated)) => Standing::Trusted,
            (None, None) if is_new => Standing::New,
            _ if is_new => Standing::Prompt,
            (Some(Exchange::Anonymous), _) => Standing::Busy,
            (None, Some(Exchange::Anonymous)) => Standing::Idle,
            (None, None) => Standing::Silent,
        };
        Some((standing, activity.last))
    }

    /// Whether the peer has blocked writes for too long.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        let activity = self.activity();
        activity.blocked_since.is_some_and(|since| now.duration_since(since) > activity.patience)
    }

    /// How a stopping server should treat the connection now: `None` to wait for its request.
    pub(super) fn ending_when_stopping(&self, now: Instant) -> Option<Ending> {
        const MAX_BLOCKED: Duration = Duration::from_secs(2);
        const MAX_IDLE: Duration = Duration::from_millis(500);
        match self.blocked_for(now) {
            Some(time) => (time >= MAX_BLOCKED).then_some(Ending::Stalled),
            None => {
                let activity = self.activity();
                let idle = activity.exchange.is_none();
                (idle && now.duration_since(activity.last) >= MAX_IDLE).then_some(Ending::Stopping)
            }
        }
    }

    /// Closes the connection.
    pub(super) fn end(&self, ending: Ending) {
        self.activity().ending.get_or_insert(ending);
        self.close.notify_one();
    }

    /// Waits until the connection is to be closed.
    pub(super) async fn ended(&self) -> Ending {
        loop {
            self.close.notified().await;
            if let Some(ending) = self.activity().ending {
                return ending;
            }
        }
    }

    /// Whether to discard the bytes that the peer did not accept. Otherwise, the kernel would hold them.
    pub(super) fn must_reset(&self) -> bool {
        let activity = self.activity();
        activity.ending.is_some() && activity.blocked_since.is_some()
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running request and its response.
#[derive(Debug)]
pub(super) struct RunningExchange(Arc<Connection>);

impl Drop for RunningExchange {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.earlier = activity.earlier.max(activity.exchange.take());
        activity.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn connection(now: Instant) -> Arc<Connection> {
        let pace = Pace { timeout: 10 * SECOND, bytes_per_second: 1000 };
        Arc::new(Connection::new(IpAddr::from([127, 0, 0, 1]), pace, now))
    }

    #[test]
    fn a_peer_that_does_not_read_is_overdue_after_the_timeout() {
        let now = Instant::now();
        let connection = connection(now);
        connection.sent(1_000_000, now);
        connection.blocked(now);
        connection.blocked(now + 9 * SECOND);
        assert!(!connection.is_overdue(now + 10 * SECOND));
        assert!(connection.is_overdue(now + 11 * SECOND));
    }

    #[test]
    fn a_slow_reader_is_overdue_only_below_the_minimum_rate() {
        for (bytes, closed) in [(1100, false), (900, true)] {
            let mut now = Instant::now();
            let connection = connection(now);
            let mut overdue = false;
            for _ in 0..200 {
                connection.blocked(now);
                now += SECOND;
                overdue |= connection.is_overdue(now);
                connection.sent(bytes, now);
            }
            assert_eq!(overdue, closed, "{bytes} bytes per second");
        }
    }

    #[test]
    fn only_authenticated_requests_are_protected_and_only_while_the_peer_reads() {
        let now = Instant::now();
        let connection = connection(now);
        assert_eq!(connection.standing(now), Some((Standing::New, now)));
        assert_eq!(connection.standing(now + NEW), Some((Standing::Silent, now)));
        drop(connection.begin());
        assert!(matches!(connection.standing(now), Some((Standing::Prompt, _))));
        assert!(matches!(connection.standing(now + NEW), Some((Standing::Idle, _))));
        connection.received(now);
        let exchange = connection.begin();
        assert_eq!(connection.standing(now), Some((Standing::Prompt, now)));
        assert_eq!(connection.standing(now + NEW), Some((Standing::Busy, now)));
        connection.mark_authenticated();
        assert_eq!(connection.standing(now), None);
        connection.blocked(now);
        assert_eq!(connection.standing(now + 4 * SECOND), None);
        assert_eq!(connection.standing(now + 5 * SECOND), Some((Standing::Stalled, now)));
        connection.sent(1, now + 5 * SECOND);
        drop(exchange);
        assert!(matches!(connection.standing(now), Some((Standing::Trusted, _))));
    }
}
