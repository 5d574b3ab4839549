//! The background thread that solves closed rounds, one at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use tracing::{error, info};

use super::hub::Hub;
use super::publication;
use crate::protocol::{Refusal, RoundId, RoundState, SolveProgress};
use crate::store::{Store, StoreError};

/// Minimum interval between progress notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// Solves rounds.
pub(super) struct Solver {
    store: Arc<Store>,
    hub: Arc<Hub>,
    memory_bytes: usize,
}

/// Queues rounds for the solver thread.
#[derive(Debug, Clone)]
pub(super) struct SolverHandle(Sender<RoundId>);

impl SolverHandle {
    /// Queues a closed round.
    pub(super) fn solve(&self, round: &RoundId) {
        // The thread lives as long as the process.
        let _ = self.0.send(round.clone());
    }
}

impl Solver {
    /// Starts the thread, and queues the rounds that an earlier process left unsolved.
    pub(super) fn start(
        store: Arc<Store>,
        hub: Arc<Hub>,
        memory_bytes: usize,
    ) -> Result<SolverHandle, StoreError> {
        let (sender, receiver) = channel();
        let handle = SolverHandle(sender);
        for round in store.rounds()? {
            if matches!(store.state(&round)?, RoundState::Closed | RoundState::Solving) {
                handle.solve(&round);
            }
        }
        let solver = Self { store, hub, memory_bytes };
        std::thread::Builder::new()
            .name("solver".into())
            .spawn(move || solver.work(&receiver))
            .map_err(StoreError::file("the solver thread"))?;
        Ok(handle)
    }

    fn work(&self, rounds: &Receiver<RoundId>) {
        for round in rounds {
            let solved = catch_unwind(AssertUnwindSafe(|| self.solve(&round)));
            let reason = match solved {
                Ok(Ok(())) => None,
                // Aborted in the meantime, or already solved.
                Ok(Err(SolveError::Store(StoreError::Refused(refusal)))) => {
                    info!(%round, %refusal, "the solve is no longer needed");
                    None
                }
                Ok(Err(SolveError::Store(StoreError::DiskFull))) => {
                    // The round is fine. It is solved after a restart with more disk space.
                    error!(%round, "no space is left for the result");
                    None
                }
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("the solve panicked".to_owned()),
            };
            self.hub.set_progress(&round, None);
            if let Some(reason) = reason {
                error!(%round, reason, "the round failed");
                if let Err(error) = self.store.fail(&round, &reason) {
                    error!(%round, %error, "cannot record the failure");
                }
            }
            self.hub.notify(&round);
        }
    }

    fn solve(&self, round: &RoundId) -> Result<(), SolveError> {
        let state = self.store.state(round)?;
        if !matches!(state, RoundState::Closed | RoundState::Solving) {
            return Err(StoreError::from(Refusal::NotPossible(state)).into());
        }
        self.store.begin_solving(round)?;
        self.hub.notify(round);
        let mut observer =
            ProgressObserver { round, hub: &self.hub, store: &self.store, notified: None };
        let seconds =
            publication::solve_and_publish(&self.store, round, self.memory_bytes, &mut observer)?;
        info!(%round, seconds, "published");
        Ok(())
    }
}

/// Why a round was not published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SolveError {
    #[error("spec.json is not a specification: {0}")]
    Spec(serde_json::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    #[error(transparent)]
    Maths(#[from] equipoise_core::Error),
    #[error(transparent)]
    Defend(#[from] equipoise_defend::Error),
}

struct ProgressObserver<'a> {
    round: &'a RoundId,
    hub: &'a Hub,
    store: &'a Store,
    notified: Option<Instant>,
}

impl Observer for ProgressObserver<'_> {
    fn on_step(&mut self, step: Progress<'_>) {
        self.store.crash().at("mid_solve");
        if self.notified.is_some_and(|at| at.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        self.notified = Some(Instant::now());
        let Progress { done, of, violation, rho, objective, .. } = step;
        let progress = SolveProgress { done, of, violation, rho, objective };
        self.hub.set_progress(self.round, Some(progress));
    }
}
