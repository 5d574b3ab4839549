//! Notifies listeners of changed rounds, through one channel for all of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::broadcast;

use crate::protocol::{RoundId, SolveProgress};

/// A listener that falls behind by more changes than this misses some. The next one carries the full state.
const CAPACITY: usize = 64;

/// Notifies listeners of changed rounds, and holds the progress of running solves.
#[derive(Debug)]
pub(super) struct Hub {
    /// Dropped when the server stops, which ends all listeners.
    changes: Mutex<Option<broadcast::Sender<RoundId>>>,
    n_changes: AtomicU64,
    progress: Mutex<BTreeMap<RoundId, SolveProgress>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            changes: Mutex::new(Some(broadcast::Sender::new(CAPACITY))),
            n_changes: AtomicU64::new(0),
            progress: Mutex::default(),
        }
    }
}

impl Hub {
    /// Notifies listeners that a round has changed.
    pub(super) fn notify(&self, round: &RoundId) {
        self.n_changes.fetch_add(1, Ordering::SeqCst);
        if let Some(changes) = self.sender().as_ref() {
            // Fails if nobody is listening.
            let _ = changes.send(round.clone());
        }
    }

    /// The number of changes so far. What was computed before the last one is out of date.
    pub(super) fn n_changes(&self) -> u64 {
        self.n_changes.load(Ordering::SeqCst)
    }

    /// Subscribes to changes; `None` if the server is stopping.
    pub(super) fn listen(&self) -> Option<broadcast::Receiver<RoundId>> {
        self.sender().as_ref().map(broadcast::Sender::subscribe)
    }

    /// Disconnects all listeners.
    pub(super) fn stop(&self) {
        self.sender().take();
    }

    fn sender(&self) -> std::sync::MutexGuard<'_, Option<broadcast::Sender<RoundId>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the progress of a solve; `None` when it has ended.
    pub(super) fn set_progress(&self, round: &RoundId, progress: Option<SolveProgress>) {
        let mut all = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Some(progress) => all.insert(round.clone(), progress),
            None => all.remove(round),
        };
        drop(all);
        self.notify(round);
    }

    /// The progress of a running solve.
    pub(super) fn progress(&self, round: &RoundId) -> Option<SolveProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).get(round).copied()
    }
}
