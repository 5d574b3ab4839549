//! The state transitions of a round: draft → open → closed → solving → published, or failed, or aborted.

use rusqlite::{Transaction, params};

use super::query::{state_of, submissions};
use super::{Store, StoreError};
use crate::protocol::{
    Digest, EventKind, ListedSubmission, Name, Refusal, RoundState, SignedStatement, SubmissionList,
};

/// Why a round closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The coordinator closed it.
    Command,
    /// The deadline has passed.
    Deadline,
    /// Every client has submitted.
    FullRoster,
}

impl CloseReason {
    fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Deadline => "deadline",
            Self::FullRoster => "full_roster",
        }
    }
}

impl Store {
    /// Draft → open.
    pub fn open_round(&self, round: &Name) -> Result<(), StoreError> {
        self.transact(|transaction| {
            self.transition(transaction, round, &[RoundState::Draft], EventKind::Opened)
        })
    }

    /// Open → closed, which makes the set of submissions final. With too few submissions, a command is refused and
    /// the round stays open; otherwise the round fails. Returns the new state.
    pub fn close_round(&self, round: &Name, by: CloseReason) -> Result<RoundState, StoreError> {
        let spec = self.spec(round)?;
        let roster = self.roster(round)?;
        self.transact(|transaction| {
            let state = state_of(transaction, round)?;
            if state != RoundState::Open {
                return Err(Refusal::NotOpen(state).into());
            }
            let found = submissions(transaction, round)?;
            let n_submissions = found.len() as u64;
            if n_submissions < spec.minimum {
                let too_few =
                    Refusal::TooFewSubmissions { found: n_submissions, minimum: spec.minimum };
                if by == CloseReason::Command {
                    return Err(too_few.into());
                }
                let failed = EventKind::Failed { reason: format!("at the deadline, {too_few}") };
                self.transition(transaction, round, &[state], failed)?;
                return Ok(RoundState::Failed);
            }
            let absent = roster.iter().map(|(key, _)| key.name());
            let absent = absent.filter(|name| found.iter().all(|s| s.client != **name));
            let absent: Vec<Name> = absent.cloned().collect();
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
            let closed = EventKind::Closed {
                by: by.name().to_owned(),
                submissions_sha256: list.digest(),
                n_submissions,
                absent,
            };
            self.transition(transaction, round, &[state], closed)?;
            transaction.execute(
                "UPDATE round SET submissions = ?2 WHERE id = ?1",
                params![round.as_str(), serde_json::to_string(&list)?],
            )?;
            self.parts.crash.at("in_close");
            Ok(RoundState::Closed)
        })
    }

    /// Closed → solving. Does nothing if the round is already being solved.
    pub fn begin_solving(&self, round: &Name) -> Result<(), StoreError> {
        self.transact(|transaction| {
            if state_of(transaction, round)? == RoundState::Solving {
                return Ok(());
            }
            self.transition(transaction, round, &[RoundState::Closed], EventKind::Solving)
        })
    }

    /// Solving → published. The files must be on disk.
    pub fn publish(
        &self,
        round: &Name,
        statement: &SignedStatement,
        statement_sha256: Digest,
        solve_seconds: f64,
    ) -> Result<(), StoreError> {
        self.transact(|transaction| {
            let published = EventKind::Published { statement_sha256, solve_seconds };
            self.transition(transaction, round, &[RoundState::Solving], published)?;
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
    pub fn fail(&self, round: &Name, reason: &str) -> Result<(), StoreError> {
        let failed = EventKind::Failed { reason: reason.to_owned() };
        let from = [RoundState::Closed, RoundState::Solving];
        self.transact(|transaction| self.transition(transaction, round, &from, failed))
    }

    /// Any state that is not final → aborted.
    pub fn abort_round(&self, round: &Name, reason: &str) -> Result<(), StoreError> {
        let aborted = EventKind::Aborted { reason: reason.to_owned() };
        let from = [RoundState::Draft, RoundState::Open, RoundState::Closed, RoundState::Solving];
        self.transact(|transaction| self.transition(transaction, round, &from, aborted))
    }

    /// Revokes a client's key. An earlier submission stays.
    pub fn revoke_key(&self, round: &Name, client: &Name) -> Result<(), StoreError> {
        self.spec(round)?;
        self.transact(|transaction| {
            let revoked = EventKind::KeyRevoked { client: client.clone() };
            // Row and event must have the same time, because every start compares them.
            let at = self.append(transaction, round, revoked)?.at;
            let changed = transaction.execute(
                "UPDATE client SET revoked_at = ?3
                 WHERE round = ?1 AND name = ?2 AND revoked_at IS NULL",
                params![round.as_str(), client.as_str(), at.to_string()],
            )?;
            match changed {
                0 => Err(Refusal::NotFound("client, or its key is already revoked").into()),
                _ => Ok(()),
            }
        })
    }

    /// Moves a round to the state after `event`, if it is in one of the states `from`.
    pub(super) fn transition(
        &self,
        transaction: &Transaction<'_>,
        round: &Name,
        from: &[RoundState],
        event: EventKind,
    ) -> Result<(), StoreError> {
        let state = state_of(transaction, round)?;
        if !from.contains(&state) {
            return Err(Refusal::NotOpen(state).into());
        }
        transaction.execute(
            "UPDATE round SET state = ?2, reason = ?3 WHERE id = ?1",
            params![round.as_str(), event.state_after(state).name(), event.reason()],
        )?;
        self.append(transaction, round, event)?;
        Ok(())
    }
}
