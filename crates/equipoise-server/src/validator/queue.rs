//! Which waiting job runs next. Pure: no tasks, no clock.
//!
//! Jobs wait in lanes, each with slots of its own, so that a small file never waits behind large ones, and a large one
//! never behind many small ones. A file that may be large gets a short run first, because most turn out to be quick.
//!
//! Within a lane, the client that has used the least validator time recently goes first, where the job counts as used at
//! its estimated cost; then the one that has waited longest. A client never has more than one slot.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::ClientKey;

/// Used time counts half after this long.
const HALF_LIFE: Duration = Duration::from_secs(600);
/// Less used time than this is forgotten.
const NEGLIGIBLE_SECONDS: f64 = 0.001;

/// The kinds of runs, each with its own slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// Files that take a short time even in the worst case.
    Small,
    /// A short run of a file that may take long.
    Quick,
    /// Files that need more than a short run.
    Long,
}

impl Lane {
    /// Maximum number of concurrent runs.
    fn slots(self) -> usize {
        match self {
            Self::Small => 2,
            Self::Quick => 1,
            Self::Long => 2,
        }
    }
}

/// A waiting job.
pub(super) type Ticket = u64;

/// Waiting and running jobs.
#[derive(Debug, Default)]
pub(super) struct Queue {
    last: Ticket,
    waiting: Vec<Waiting>,
    running: HashMap<ClientKey, Lane>,
    used: HashMap<ClientKey, Used>,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    client: ClientKey,
    lane: Lane,
    estimated_seconds: f64,
}

/// Validator time of one client.
#[derive(Debug, Clone, Copy)]
struct Used {
    seconds: f64,
    at: Instant,
}

impl Used {
    fn recent(&self, now: Instant) -> f64 {
        let age = now.saturating_duration_since(self.at).as_secs_f64();
        self.seconds * (-age / HALF_LIFE.as_secs_f64()).exp2()
    }
}

impl Queue {
    /// Adds a job.
    pub(super) fn push(&mut self, client: ClientKey, lane: Lane, estimated_seconds: f64) -> Ticket {
        self.last += 1;
        self.waiting.push(Waiting { ticket: self.last, client, lane, estimated_seconds });
        self.last
    }

    /// Takes the job that runs next, if a slot is free.
    pub(super) fn start_next(&mut self, now: Instant) -> Option<(Ticket, ClientKey)> {
        let is_free = |job: &Waiting| {
            let running = self.running.values().filter(|lane| **lane == job.lane).count();
            running < job.lane.slots() && !self.running.contains_key(&job.client)
        };
        let cost = |job: &Waiting| self.recent(&job.client, now) + job.estimated_seconds;
        let candidates = self.waiting.iter().enumerate().filter(|(_, job)| is_free(job));
        // The first of equals has waited longest.
        let (index, _) = candidates.min_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)))?;
        let Waiting { ticket, client, lane, .. } = self.waiting.remove(index);
        self.running.insert(client.clone(), lane);
        Some((ticket, client))
    }

    /// Releases the client's slot and records the time it used.
    pub(super) fn finish(&mut self, client: &ClientKey, used: Duration, now: Instant) {
        self.running.remove(client);
        let seconds = self.recent(client, now) + used.as_secs_f64();
        self.used.insert(client.clone(), Used { seconds, at: now });
        self.used.retain(|_, used| used.recent(now) > NEGLIGIBLE_SECONDS);
    }

    /// Seconds that the client used recently.
    fn recent(&self, client: &ClientKey, now: Instant) -> f64 {
        self.used.get(client).map_or(0.0, |used| used.recent(now))
    }
}

#[cfg(test)]
mod tests;
