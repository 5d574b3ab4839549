//! The moves of a round: draft → open → closed → solving → published, or failed, or aborted.

use rusqlite::{Transaction, params};

use super::query::{state_of, submissions};
use super::{Store, StoreError};
use crate::protocol::{
    Digest, EventKind, Name, Refusal, RoundState, SignedStatement, SubmissionList,
};

/// Why a round closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The coordinator said so.
    Command,
    /// The deadline is over.
    Deadline,
    /// All have submitted.
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
        self.spec(round)?;
        self.transact(|transaction| {
            self.leave(transaction, round, &[RoundState::Draft], RoundState::Open)?;
            self.append(transaction, round, EventKind::Opened)?;
            Ok(())
        })
    }

    /// Open → closed: from here on the set of submissions is final. With too few of them the round stays
    /// open if it was a command, and fails otherwise. Gives the new state.
    pub fn close_round(&self, round: &Name, by: CloseReason) -> Result<RoundState, StoreError> {
        let spec = self.spec(round)?;
        let roster = self.roster(round)?;
        self.transact(|transaction| {
            let found = submissions(transaction, round)?;
            let absent: Vec<Name> = roster
                .iter()
                .map(|(key, _)| key.name())
                .filter(|name| found.iter().all(|submission| submission.client != **name))
                .cloned()
                .collect();
            let n_submissions = found.len() as u64;
            if n_submissions < spec.minimum {
                // Whether it could be closed at all comes first.
                let state = state_of(transaction, round)?;
                if state != RoundState::Open {
                    return Err(Refusal::NotOpen { state }.into());
                }
                let too_few =
                    Refusal::TooFewSubmissions { found: n_submissions, minimum: spec.minimum };
                if by == CloseReason::Command {
                    return Err(too_few.into());
                }
                let reason = format!("at the deadline {too_few}");
                self.leave(transaction, round, &[RoundState::Open], RoundState::Failed)?;
                set_reason(transaction, round, &reason)?;
                self.append(transaction, round, EventKind::Failed { reason })?;
                return Ok(RoundState::Failed);
            }
            let mut listed: Vec<crate::protocol::ListedSubmission> = Vec::new();
            for submission in found {
                let twin = listed
                    .iter()
                    .find(|other| other.canonical_sha256 == submission.canonical_sha256)
                    .map(|other| other.client.clone());
                listed.push(submission.listed(twin));
            }
            let list = SubmissionList {
                round: round.clone(),
                submissions: listed,
                absent: absent.clone(),
            };
            self.leave(transaction, round, &[RoundState::Open], RoundState::Closed)?;
            transaction.execute(
                "UPDATE round SET submissions = ?2 WHERE id = ?1",
                params![round.as_str(), serde_json::to_string(&list)?],
            )?;
            let closed = EventKind::Closed {
                by: by.name().to_owned(),
                submissions_sha256: list.digest(),
                n_submissions,
                absent,
            };
            self.append(transaction, round, closed)?;
            self.crash.at("in_close");
            Ok(RoundState::Closed)
        })
    }

    /// Closed → solving; a round that was being solved stays so.
    pub fn begin_solving(&self, round: &Name) -> Result<(), StoreError> {
        self.transact(|transaction| {
            if state_of(transaction, round)? == RoundState::Solving {
                return Ok(());
            }
            self.leave(transaction, round, &[RoundState::Closed], RoundState::Solving)?;
            self.append(transaction, round, EventKind::Solving)?;
            Ok(())
        })
    }

    /// Solving → published, with files that are on the disk.
    pub fn publish(
        &self,
        round: &Name,
        statement: &SignedStatement,
        statement_sha256: Digest,
        solve_seconds: f64,
    ) -> Result<(), StoreError> {
        self.transact(|transaction| {
            self.leave(transaction, round, &[RoundState::Solving], RoundState::Published)?;
            let subjects = statement.statement.subjects.iter().map(|s| (s.name.as_str(), s.sha256));
            for (name, digest) in subjects.chain([("statement.json", statement_sha256)]) {
                transaction.execute(
                    "INSERT INTO artefact (round, name, sha256) VALUES (?1, ?2, ?3)",
                    params![round.as_str(), name, digest.to_string()],
                )?;
            }
            let published = EventKind::Published { statement_sha256, solve_seconds };
            self.append(transaction, round, published)?;
            Ok(())
        })
    }

    /// Closed or solving → failed.
    pub fn fail(&self, round: &Name, reason: &str) -> Result<(), StoreError> {
        let from = [RoundState::Closed, RoundState::Solving];
        self.end(round, &from, RoundState::Failed, reason, |reason| EventKind::Failed { reason })
    }

    /// Anything that is not over → aborted.
    pub fn abort_round(&self, round: &Name, reason: &str) -> Result<(), StoreError> {
        let from = [RoundState::Draft, RoundState::Open, RoundState::Closed, RoundState::Solving];
        self.end(round, &from, RoundState::Aborted, reason, |reason| EventKind::Aborted { reason })
    }

    /// A key is not accepted any more. What its owner submitted before stays.
    pub fn revoke_key(&self, round: &Name, client: &Name) -> Result<(), StoreError> {
        self.spec(round)?;
        self.transact(|transaction| {
            let revoked = EventKind::KeyRevoked { client: client.clone() };
            // The time of row and event is the same: they are compared at every start.
            let at = self.append(transaction, round, revoked)?.at;
            let changed = transaction.execute(
                "UPDATE client SET revoked_at = ?3
                 WHERE round = ?1 AND name = ?2 AND revoked_at IS NULL",
                params![round.as_str(), client.as_str(), at.to_string()],
            )?;
            if changed == 0 {
                return Err(Refusal::NotFound { what: "client with a valid key" }.into());
            }
            Ok(())
        })
    }

    fn end(
        &self,
        round: &Name,
        from: &[RoundState],
        to: RoundState,
        reason: &str,
        kind: impl FnOnce(String) -> EventKind,
    ) -> Result<(), StoreError> {
        self.spec(round)?;
        self.transact(|transaction| {
            self.leave(transaction, round, from, to)?;
            set_reason(transaction, round, reason)?;
            self.append(transaction, round, kind(reason.to_owned()))?;
            Ok(())
        })
    }

    fn leave(
        &self,
        transaction: &Transaction<'_>,
        round: &Name,
        from: &[RoundState],
        to: RoundState,
    ) -> Result<(), StoreError> {
        let state = state_of(transaction, round)?;
        if !from.contains(&state) {
            return Err(Refusal::NotOpen { state }.into());
        }
        transaction.execute(
            "UPDATE round SET state = ?2 WHERE id = ?1",
            params![round.as_str(), to.name()],
        )?;
        Ok(())
    }
}

fn set_reason(transaction: &Transaction<'_>, round: &Name, reason: &str) -> Result<(), StoreError> {
    transaction
        .execute("UPDATE round SET reason = ?2 WHERE id = ?1", params![round.as_str(), reason])?;
    Ok(())
}
