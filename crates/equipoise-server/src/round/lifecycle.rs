//! When a round opens, closes or ends: by the coordinator, at its deadline, or when the roster is complete.

use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use tracing::{error, info};

use super::action::Action;
use super::rounds::Rounds;
use crate::protocol::{Refusal, RoundId, RoundState};
use crate::store::{CloseReason, StoreError, remove_if_present};

/// How long a round waits after its deadline for files that arrived in time, so that nobody can keep it open.
const MAX_WAIT: SignedDuration = SignedDuration::from_mins(30);

/// What the log says if the coordinator gives no reason.
pub(crate) const NO_REASON: &str = "the coordinator gave no reason";

impl Rounds {
    /// Performs an action of the coordinator.
    pub(crate) fn perform(&self, round: &RoundId, action: &Action) -> Result<(), StoreError> {
        match action {
            Action::Open => self.store.open_round(round)?,
            Action::Close => self.close(round, CloseReason::Command)?,
            Action::Abort(reason) => {
                let reason = reason.as_deref().unwrap_or(NO_REASON);
                self.store.abort_round(round, reason)?;
                self.remove_idle_parts(round, None)?;
            }
            Action::Revoke(client) => {
                self.store.revoke_key(round, client)?;
                // The round may be complete without this client.
                self.close_if_full(round)?;
            }
        }
        self.hub.notify(round);
        Ok(())
    }

    /// Closes the rounds whose deadline has passed or whose roster is complete. Called every second.
    pub fn close_due_rounds(&self) -> Result<(), StoreError> {
        for round in self.refused.take_changed() {
            self.hub.notify(&round);
        }
        for round in self.open_rounds()? {
            if let Err(error) = self.close_if_due(&round) {
                // Other rounds may still be closed.
                error!(%round, %error, "cannot close the round");
            }
        }
        Ok(())
    }

    fn close_if_due(&self, round: &RoundId) -> Result<(), StoreError> {
        let (deadline, now) = (self.store.spec(round)?.deadline, self.store.clock().now());
        if deadline.is_none_or(|deadline| now < deadline) {
            return self.close_if_full(round);
        }
        // Looking after the clock was read: every file that arrived in time has been accepted or refused by now.
        let is_patient = |deadline: Timestamp| now.duration_since(deadline) < MAX_WAIT;
        match self.arrivals.any(round) && deadline.is_some_and(is_patient) {
            true => Ok(()),
            false => self.close_if_open(round, CloseReason::Deadline),
        }
    }

    /// Removes interrupted uploads that are too old to resume. Called every minute.
    pub fn remove_expired_uploads(&self) -> Result<(), StoreError> {
        let expiry = Duration::from_secs(self.limits.upload_expiry_seconds);
        for round in self.open_rounds()? {
            self.remove_idle_parts(&round, Some(expiry))?;
        }
        Ok(())
    }

    /// Called after a submission. The submission is accepted even if the round cannot be closed now; the next
    /// periodic check tries again.
    pub(super) fn after_submission(&self, round: &RoundId) {
        self.hub.notify(round);
        if let Err(error) = self.close_if_full(round) {
            error!(%error, "cannot close a full round");
        }
    }

    fn open_rounds(&self) -> Result<Vec<RoundId>, StoreError> {
        let mut open = Vec::new();
        for round in self.store.rounds()? {
            if self.store.state(&round)? == RoundState::Open {
                open.push(round);
            }
        }
        Ok(open)
    }

    fn close_if_full(&self, round: &RoundId) -> Result<(), StoreError> {
        let row = self.store.round(round)?;
        if row.state == RoundState::Open
            && row.n_pending == 0
            && row.n_submissions >= row.spec.minimum
        {
            self.close_if_open(round, CloseReason::FullRoster)?;
        }
        Ok(())
    }

    /// Closes a round that someone else may have closed in the meantime.
    fn close_if_open(&self, round: &RoundId, by: CloseReason) -> Result<(), StoreError> {
        match self.close(round, by) {
            Err(StoreError::Refused(Refusal::NotPossible(_))) => Ok(()),
            closed => closed,
        }
    }

    /// Closes a round and queues its solve.
    fn close(&self, round: &RoundId, by: CloseReason) -> Result<(), StoreError> {
        let state = self.store.close_round(round, by)?;
        info!(%round, ?by, %state, "round closed");
        self.hub.notify(round);
        if state == RoundState::Closed {
            self.solver.solve(round);
        }
        self.remove_idle_parts(round, None)
    }

    /// Removes partial uploads, either all or only those older than this. A running upload is left alone.
    fn remove_idle_parts(
        &self,
        round: &RoundId,
        older_than: Option<Duration>,
    ) -> Result<(), StoreError> {
        let is_old = |path: &Path| {
            let Some(age) = older_than else { return true };
            let modified = path.metadata().and_then(|found| found.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|d| d > age))
        };
        for (key, _) in self.store.roster(round)? {
            let client = (round.clone(), key.name().clone());
            let Some(_lock) = self.client_locks.try_lock(client) else { continue };
            let parts = self.store.folder().parts_of(round, key.name());
            parts.iter().filter(|path| is_old(path)).for_each(|path| remove_if_present(path));
        }
        Ok(())
    }
}
