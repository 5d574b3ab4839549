//! The state transitions of a round. Which of them are possible is decided by the rules of its log (`protocol/log.rs`).

use rusqlite::{Transaction, params};

use super::query::{state_of, submissions};
use super::{Store, StoreError};
use crate::protocol::{
    ClientId, CloseReason, Digest, EventKind, ListedSubmission, RoundId, RoundState,
    SignedStatement, SubmissionList,
};

impl Store {
    /// Draft → open.
    pub fn open_round(&self, round: &RoundId) -> Result<(), StoreError> {
        self.transact(|transaction| self.transition(transaction, round, EventKind::Opened))
    }

    /// Open → closed, which makes the set of submissions final. With too few submissions, the round fails at its
    /// deadline; otherwise it stays open, and the request is refused. Returns the new state.
    pub fn close_round(&self, round: &RoundId, by: CloseReason) -> Result<RoundState, StoreError> {
        let spec = self.spec(round)?;
        let roster = self.roster(round)?;
        self.transact(|transaction| {
            let found = submissions(transaction, round)?;
            let n_submissions = found.len() as u64;
            if by == CloseReason::Deadline && n_submissions < spec.minimum {
                let reason = format!(
                    "too few submissions at the deadline: {n_submissions}, but the minimum is {}",
                    spec.minimum
                );
                let failed = EventKind::Failed { reason };
                self.transition(transaction, round, failed)?;
                return Ok(RoundState::Failed);
            }
            let absent = roster.iter().map(|(key, _)| key.name());
            let absent = absent.filter(|name| found.iter().all(|s| s.client != **name));
            let absent: Vec<ClientId> = absent.cloned().collect();
            let mut listed: Vec<ListedSubmission> = Vec::new();
            for mut submission in found {
                let table = submission.canonical_sha256;
                let twin = listed.iter().find(|other| other.canonical_sha256 == table);
                submission.same_table_as = twin.map(|other| other.client.clone());
                listed.push(submission);
            }
            let list = SubmissionList {
                round: round.clone(),
                submissions: listed,
                absent: absent.clone(),
            };
            let closed =
                EventKind::Closed { by, submissions_sha256: list.digest(), n_submissions, absent };
            self.transition(transaction, round, closed)?;
            transaction.execute(
                "UPDATE round SET submissions = ?2 WHERE id = ?1",
                params![round.as_str(), serde_json::to_string(&list)?],
            )?;
            self.parts.crash.at("in_close");
            Ok(RoundState::Closed)
        })
    }

    /// Closed → solving. Does nothing if the round is already being solved.
    pub fn begin_solving(&self, round: &RoundId) -> Result<(), StoreError> {
        self.transact(|transaction| {
            if state_of(transaction, round)? == RoundState::Solving {
                return Ok(());
            }
            self.transition(transaction, round, EventKind::Solving)
        })
    }

    /// Solving → published. The files must be on disk.
    pub fn publish(
        &self,
        round: &RoundId,
        statement: &SignedStatement,
        statement_sha256: Digest,
        solve_seconds: f64,
    ) -> Result<(), StoreError> {
        self.transact(|transaction| {
            let published = EventKind::Published { statement_sha256, solve_seconds };
            self.transition(transaction, round, published)?;
            let subjects = statement.statement.subjects.iter().map(|s| (s.name.as_str(), s.sha256));
            for (name, digest) in subjects.chain([("statement.json", statement_sha256)]) {
                transaction.execute(
                    "INSERT INTO artefact (round, name, sha256) VALUES (?1, ?2, ?3)",
                    params![round.as_str(), name, digest.to_string()],
                )?;
            }
            Ok(())
        })
    }

    /// Closed or solving → failed.
    pub fn fail(&self, round: &RoundId, reason: &str) -> Result<(), StoreError> {
        let failed = EventKind::Failed { reason: reason.to_owned() };
        self.transact(|transaction| self.transition(transaction, round, failed))
    }

    /// Any state that is not final → aborted.
    pub fn abort_round(&self, round: &RoundId, reason: &str) -> Result<(), StoreError> {
        let aborted = EventKind::Aborted { reason: reason.to_owned() };
        self.transact(|transaction| self.transition(transaction, round, aborted))
    }

    /// Revokes a client's key, before the round closes. An earlier submission stays.
    pub fn revoke_key(&self, round: &RoundId, client: &ClientId) -> Result<(), StoreError> {
        self.spec(round)?;
        self.transact(|transaction| {
            let revoked = EventKind::KeyRevoked { client: client.clone() };
            // Row and event must have the same time, because the startup check compares them.
            let at = self.append(transaction, round, revoked)?.event.at;
            transaction.execute(
                "UPDATE client SET revoked_at = ?3 WHERE round = ?1 AND name = ?2",
                params![round.as_str(), client.as_str(), at.to_string()],
            )?;
            Ok(())
        })
    }

    /// Appends an event and moves the round to the state after it. The rules of the log decide whether that is possible.
    pub(super) fn transition(
        &self,
        transaction: &Transaction<'_>,
        round: &RoundId,
        event: EventKind,
    ) -> Result<(), StoreError> {
        let state = state_of(transaction, round)?;
        transaction.execute(
            "UPDATE round SET state = ?2, reason = ?3 WHERE id = ?1",
            params![round.as_str(), event.state_after(state).name(), event.reason()],
        )?;
        self.append(transaction, round, event)?;
        Ok(())
    }
}
