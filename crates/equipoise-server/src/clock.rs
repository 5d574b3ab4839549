//! The time, behind a trait, so that a test can let a deadline pass.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock, to the second: a log needs no more.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct MockClock(AtomicI64);

impl MockClock {
    /// Moves the clock.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
