//! The thread that solves closed rounds, one after the other, in the background.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use tracing::{error, info};

use super::publication;
use crate::config::Limits;
use crate::hub::Hub;
use crate::protocol::{Name, Refusal, RoundState, SolveProgress};
use crate::store::{Store, StoreError};

/// Listeners are told of a solve's progress this often at most.
const PACE: Duration = Duration::from_millis(250);

/// Solves rounds.
pub struct Solver {
    store: Arc<Store>,
    hub: Arc<Hub>,
    memory_bytes: usize,
}

/// The way to a running solver.
#[derive(Debug, Clone)]
pub struct SolverHandle(Sender<Name>);

impl SolverHandle {
    /// Has a closed round solved.
    pub fn solve(&self, round: &Name) {
        // The thread lives as long as the process.
        let _ = self.0.send(round.clone());
    }
}

impl Solver {
    /// Starts the thread, with the rounds that an earlier process left unsolved.
    pub fn start(store: Arc<Store>, hub: Arc<Hub>) -> Result<SolverHandle, StoreError> {
        Self::start_with(store, hub, Limits::default().solve_memory_bytes)
    }

    /// The same, with this much memory for a solve.
    pub fn start_with(
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
            .map_err(StoreError::file("the solver's thread"))?;
        Ok(handle)
    }

    fn work(&self, rounds: &Receiver<Name>) {
        for round in rounds {
            let solved = catch_unwind(AssertUnwindSafe(|| self.solve(&round)));
            let reason = match solved {
                Ok(Ok(())) => None,
                // Aborted meanwhile, or solved already.
                Ok(Err(SolveError::Store(StoreError::Refused(refusal)))) => {
                    info!(%round, %refusal, "the solve was not needed");
                    None
                }
                Ok(Err(SolveError::Store(StoreError::DiskFull))) => {
                    // Nothing is wrong with the round: after a restart with more space it goes on.
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
                    error!(%round, %error, "the failure could not be recorded");
                }
            }
            self.hub.changed(&round);
        }
    }

    fn solve(&self, round: &Name) -> Result<(), SolveError> {
        let state = self.store.state(round)?;
        if !matches!(state, RoundState::Closed | RoundState::Solving) {
            return Err(StoreError::from(Refusal::NotOpen { state }).into());
        }
        self.store.begin_solving(round)?;
        self.hub.changed(round);
        let mut watcher = Watcher { round, hub: &self.hub, store: &self.store, told: None };
        let seconds =
            publication::solve_and_publish(&self.store, round, self.memory_bytes, &mut watcher)?;
        info!(%round, seconds, "published");
        Ok(())
    }
}

/// Why a round was not published.
#[derive(Debug, thiserror::Error)]
pub(super) enum SolveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Data(#[from] equipoise_data::Error),
    #[error(transparent)]
    Maths(#[from] equipoise_core::Error),
    #[error(transparent)]
    Defend(#[from] equipoise_defend::Error),
}

struct Watcher<'a> {
    round: &'a Name,
    hub: &'a Hub,
    store: &'a Store,
    told: Option<Instant>,
}

impl Observer for Watcher<'_> {
    fn on_step(&mut self, step: Progress<'_>) {
        self.store.crash().at("mid_solve");
        if self.told.is_some_and(|told| told.elapsed() < PACE) {
            return;
        }
        self.told = Some(Instant::now());
        let Progress { done, of, violation, rho, objective, .. } = step;
        let progress = SolveProgress { done, of, violation, rho, objective };
        self.hub.set_progress(self.round, Some(progress));
    }
}
