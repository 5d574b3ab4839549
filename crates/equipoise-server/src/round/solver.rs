//! The background thread that solves closed rounds, one at a time.

use std::collections::VecDeque;
use std::error::Error;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use equipoise_core::{Observer, Progress};
use tracing::{error, info};

use super::hub::Hub;
use super::publication;
use crate::protocol::{Refusal, RoundId, RoundState, SolveProgress};
use crate::store::{Store, StoreError};

/// Minimum interval between progress notifications.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// How long to wait before a solve that failed because of the machine is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// What to do with a round after a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Done,
    TryAgain,
}

/// Solves rounds.
pub(super) struct Solver {
    store: Arc<Store>,
    hub: Arc<Hub>,
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
    pub(super) fn start(store: Arc<Store>, hub: Arc<Hub>) -> Result<SolverHandle, StoreError> {
        let (sender, receiver) = channel();
        let handle = SolverHandle(sender);
        for round in store.rounds()? {
            if matches!(store.state(&round)?, RoundState::Closed | RoundState::Solving) {
                handle.solve(&round);
            }
        }
        let solver = Self { store, hub };
        std::thread::Builder::new()
            .name("solver".into())
            .spawn(move || solver.work(&receiver))
            .map_err(StoreError::file("the solver thread"))?;
        Ok(handle)
    }

    fn work(&self, rounds: &Receiver<RoundId>) {
        // Rounds to try again, in the order of their time.
        let mut retries: VecDeque<(Instant, RoundId)> = VecDeque::new();
        loop {
            let wait = retries
                .front()
                .map_or(Duration::MAX, |(at, _)| at.saturating_duration_since(Instant::now()));
            let round = match (rounds.recv_timeout(wait), retries.front()) {
                (Ok(round), _) => round,
                (Err(RecvTimeoutError::Timeout), Some(_)) => match retries.pop_front() {
                    Some((_, round)) => round,
                    None => continue,
                },
                (Err(RecvTimeoutError::Timeout), None) => continue,
                (Err(RecvTimeoutError::Disconnected), _) => return,
            };
            if self.solve_or_fail(&round) == Next::TryAgain {
                retries.push_back((Instant::now() + RETRY_INTERVAL, round));
            }
        }
    }

    fn solve_or_fail(&self, round: &RoundId) -> Next {
        let solved = catch_unwind(AssertUnwindSafe(|| self.solve(round)));
        let (reason, next) = match solved {
            Ok(Ok(())) => (None, Next::Done),
            // Aborted in the meantime, or already solved.
            Ok(Err(SolveError::Store(StoreError::Refused(refusal)))) => {
                info!(%round, %refusal, "the solve is no longer needed");
                (None, Next::Done)
            }
            Ok(Err(error)) if error.is_about_the_machine() => {
                let seconds = RETRY_INTERVAL.as_secs();
                error!(%round, %error, seconds, "the solve did not finish and will be tried again");
                (None, Next::TryAgain)
            }
            Ok(Err(error)) => (Some(error.to_string()), Next::Done),
            Err(_) => (Some("the solve panicked".to_owned()), Next::Done),
        };
        self.hub.set_progress(round, None);
        if let Some(reason) = reason {
            error!(%round, reason, "the round failed");
            if let Err(error) = self.store.fail(round, &reason) {
                error!(%round, %error, "cannot record the failure");
            }
        }
        self.hub.notify(round);
        next
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
        let seconds = publication::solve_and_publish(&self.store, round, &mut observer)?;
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
    Defend(#[from] equipoise_report::defend::Error),
}

impl SolveError {
    /// Whether the machine is to blame, for example a full disk, and not the round: its inputs were validated, so
    /// reading or writing a file can only fail for such a reason.
    fn is_about_the_machine(&self) -> bool {
        let is_io =
            |error: &(dyn Error + 'static)| error.downcast_ref::<std::io::Error>().is_some();
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if is_io(error) {
                return true;
            }
            cause = error.source();
        }
        matches!(self, Self::Store(StoreError::DiskFull | StoreError::Database(_)))
    }
}

struct ProgressObserver<'a> {
    round: &'a RoundId,
    hub: &'a Hub,
    store: &'a Store,
    notified: Option<Instant>,
}

impl Observer for ProgressObserver<'_> {
    fn on_step(&mut self, step: Progress<'_>) -> ControlFlow<()> {
        self.store.crash().at("mid_solve");
        if self.notified.is_some_and(|at| at.elapsed() < PROGRESS_INTERVAL) {
            return ControlFlow::Continue(());
        }
        self.notified = Some(Instant::now());
        let Progress { done, of, violation, rho, objective, .. } = step;
        let progress = SolveProgress { done, of, violation, rho, objective };
        self.hub.set_progress(self.round, Some(progress));
        ControlFlow::Continue(())
    }
}
