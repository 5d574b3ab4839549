//! The clock, behind a trait so that tests can control time.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// A clock.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// The system clock, with a resolution of one second.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        whole_seconds(Timestamp::now())
    }
}

/// The time without fractions of a second, which no clock and no log of the server has.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// A clock that only advances when a test tells it to.
#[derive(Debug, Default)]
pub struct MockClock(AtomicI64);

impl MockClock {
    /// Advances the clock.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
