//! Gives jobs their turns, in the order of the [`Queue`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::oneshot;

use super::ClientKey;
use super::queue::{Lane, Queue, Ticket};

/// Waiting jobs and the free slots.
#[derive(Debug, Default)]
pub(super) struct Scheduler(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    queue: Queue,
    callers: HashMap<Ticket, oneshot::Sender<Turn>>,
}

/// A slot, released on drop. The time until then counts as used by the client.
#[derive(Debug)]
pub(super) struct Turn {
    scheduler: Arc<Scheduler>,
    client: ClientKey,
    started: Instant,
}

impl Scheduler {
    /// Waits for a slot. `None` if the scheduler is shutting down.
    pub(super) async fn turn(
        self: &Arc<Self>,
        client: ClientKey,
        lane: Lane,
        estimated_seconds: f64,
    ) -> Option<Turn> {
        let (caller, turn) = oneshot::channel();
        {
            let mut state = self.lock();
            let ticket = state.queue.push(client, lane, estimated_seconds);
            state.callers.insert(ticket, caller);
        }
        self.start();
        turn.await.ok()
    }

    /// Starts as many jobs as there are free slots.
    fn start(self: &Arc<Self>) {
        loop {
            let started = Instant::now();
            let mut state = self.lock();
            let Some((ticket, client)) = state.queue.start_next(started) else { return };
            let caller = state.callers.remove(&ticket);
            drop(state);
            let turn = Turn { scheduler: Arc::clone(self), client, started };
            // If nobody waits any more, the turn comes back, and dropping it releases the slot.
            drop(caller.map(|caller| caller.send(turn)));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let now = Instant::now();
        self.scheduler.lock().queue.finish(&self.client, now - self.started, now);
        self.scheduler.start();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    fn client(name: &str) -> ClientKey {
        ("spring".parse().unwrap(), name.parse().unwrap())
    }

    async fn waits(turn: impl Future<Output = Option<Turn>>) -> bool {
        tokio::time::timeout(Duration::from_millis(50), turn).await.is_err()
    }

    #[tokio::test]
    async fn a_dropped_turn_passes_to_the_next_and_a_caller_that_left_keeps_no_slot() {
        let scheduler = Arc::new(Scheduler::default());
        let first = scheduler.turn(client("a"), Lane::Long, 0.0).await.unwrap();
        let second = scheduler.turn(client("b"), Lane::Long, 0.0).await.unwrap();
        // Both slots are taken. This caller waits, then leaves.
        assert!(waits(scheduler.turn(client("c"), Lane::Long, 0.0)).await);
        // Small files have slots of their own.
        let small = scheduler.turn(client("d"), Lane::Small, 0.0).await.unwrap();
        let waiting = tokio::spawn({
            let scheduler = Arc::clone(&scheduler);
            async move { scheduler.turn(client("e"), Lane::Long, 0.0).await }
        });
        tokio::task::yield_now().await;
        drop(first);
        let third = tokio::time::timeout(Duration::from_secs(1), waiting).await.unwrap();
        assert!(third.unwrap().is_some());
        drop((second, small));
        // Nothing is leaked: both lanes can be filled again.
        for lane in [Lane::Small, Lane::Long] {
            let one = scheduler.turn(client("a"), lane, 0.0).await.unwrap();
            let two = scheduler.turn(client("b"), lane, 0.0).await.unwrap();
            assert!(waits(scheduler.turn(client("c"), lane, 0.0)).await);
            drop((one, two));
        }
    }

    #[tokio::test]
    async fn a_client_has_one_slot() {
        let scheduler = Arc::new(Scheduler::default());
        let first = scheduler.turn(client("a"), Lane::Quick, 0.0).await.unwrap();
        assert!(waits(scheduler.turn(client("a"), Lane::Quick, 0.0)).await);
        assert!(waits(scheduler.turn(client("a"), Lane::Long, 0.0)).await);
        drop(first);
        assert!(scheduler.turn(client("a"), Lane::Long, 0.0).await.is_some());
    }
}
