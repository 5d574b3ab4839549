//! Who wants to know that a round has changed: one channel for all listeners.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::broadcast;

use crate::protocol::{Name, SolveProgress};

/// Listeners that are slower than this many changes miss some; the next one tells all there is.
const WAITING: usize = 64;

/// Tells listeners which round has changed.
#[derive(Debug)]
pub struct Hub {
    /// Gone once the server stops: that ends all listeners.
    changes: Mutex<Option<broadcast::Sender<Name>>>,
    progress: Mutex<BTreeMap<Name, SolveProgress>>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            changes: Mutex::new(Some(broadcast::Sender::new(WAITING))),
            progress: Mutex::default(),
        }
    }
}

impl Hub {
    /// A round has changed.
    pub fn changed(&self, round: &Name) {
        if let Some(changes) = self.sender().as_ref() {
            // Nobody listening is fine.
            let _ = changes.send(round.clone());
        }
    }

    /// From now on, hears of changes; nothing where the server stops.
    pub fn listen(&self) -> Option<broadcast::Receiver<Name>> {
        self.sender().as_ref().map(broadcast::Sender::subscribe)
    }

    /// Sends all listeners home.
    pub fn stop(&self) {
        self.sender().take();
    }

    fn sender(&self) -> std::sync::MutexGuard<'_, Option<broadcast::Sender<Name>>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A solve went on, or ended.
    pub fn set_progress(&self, round: &Name, progress: Option<SolveProgress>) {
        let mut all = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Some(progress) => all.insert(round.clone(), progress),
            None => all.remove(round),
        };
        drop(all);
        self.changed(round);
    }

    /// How far a solve is.
    pub fn progress(&self, round: &Name) -> Option<SolveProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).get(round).copied()
    }
}
