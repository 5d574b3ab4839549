//! Uploads that have arrived completely but are not yet accepted or refused.
//!
//! Lateness is judged when the last byte of a file arrives, but validation takes time. At its deadline, a round waits
//! for the files that arrived before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::protocol::RoundId;

/// The number of arrived uploads per round.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals(Arc<Mutex<HashMap<RoundId, usize>>>);

/// An arrived upload. Dropping it means that the upload was accepted or refused.
#[derive(Debug)]
pub(super) struct Arrival {
    arrivals: Arrivals,
    round: RoundId,
}

impl Arrivals {
    /// Registers an upload. Register first, then read the clock: a check that reads the clock and then finds no arrival
    /// can be sure that no file in time is still waiting.
    pub(super) fn register(&self, round: &RoundId) -> Arrival {
        *self.counts().entry(round.clone()).or_default() += 1;
        Arrival { arrivals: self.clone(), round: round.clone() }
    }

    /// Whether some upload of the round is still being validated.
    pub(super) fn any(&self, round: &RoundId) -> bool {
        self.counts().contains_key(round)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<RoundId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        let mut counts = self.arrivals.counts();
        if let Some(count) = counts.get_mut(&self.round) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.round);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn a_round_has_arrivals_until_the_last_one_is_dropped() {
        let arrivals = Arrivals::default();
        let round = "spring".parse().expect("a valid name");
        assert!(!arrivals.any(&round));
        let (first, second) = (arrivals.register(&round), arrivals.register(&round));
        drop(first);
        assert!(arrivals.any(&round));
        drop(second);
        assert!(!arrivals.any(&round));
    }
}
