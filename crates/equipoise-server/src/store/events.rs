//! The audit logs in the database.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::folder::random_bytes;
use super::query::spec_of;
use super::server_log::append_to_server_log;
use super::{Store, StoreError};
use crate::protocol::{
    Digest, Event, EventKind, LogHead, LogProblem, LogState, Refusal, RoundId, SignedLogHead,
    replay, verify_chain,
};

/// An event that was just appended, and its digest.
#[derive(Debug, Clone)]
pub(super) struct Appended {
    pub(super) event: Event,
    pub(super) digest: Digest,
}

/// The state of each log and the head that it belongs to, so that an append does not replay the whole log. An entry
/// whose head is not the one in the database, for example after a rollback, is ignored.
#[derive(Default)]
pub(super) struct LogStates(Mutex<BTreeMap<RoundId, (Digest, LogState)>>);

impl LogStates {
    fn take(&self, round: &RoundId, head: Digest) -> Option<LogState> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.remove(round).filter(|(of, _)| *of == head).map(|(_, state)| state)
    }

    fn put(&self, head: Digest, state: LogState) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(state.round.clone(), (head, state));
    }
}

impl Store {
    /// Appends an event, if the rules of the log allow it, to the log of its round and to the server-wide log.
    pub(super) fn append(
        &self,
        transaction: &Transaction<'_>,
        round: &RoundId,
        mut kind: EventKind,
    ) -> Result<Appended, StoreError> {
        let (last, previous) = chain_head(transaction, round)?;
        let state = match last {
            0 => None,
            _ => Some(self.log_state(transaction, round, previous)?),
        };
        // Times in a log never go back, even if the clock does.
        let mut at = self.parts.clock.now();
        if let Some(state) = &state {
            at = at.max(state.at);
            if let EventKind::Accepted { received_at, .. } = &mut kind {
                *received_at = (*received_at).max(state.opened_at.unwrap_or(*received_at));
                at = at.max(*received_at);
            }
        }
        let salt = Digest::of(&random_bytes()?);
        let event = Event { seq: last + 1, previous, at, round: round.clone(), salt, kind };
        let next = match state {
            None => LogState::begin(&event, Some(&spec_of(transaction, round)?)),
            Some(mut state) => match state.apply(&event) {
                Ok(()) => Ok(state),
                Err(error) => {
                    self.logs.put(previous, state);
                    Err(error)
                }
            },
        };
        let next = next.map_err(|error| match refusal(&error.problem) {
            Some(refusal) => StoreError::Refused(refusal),
            None => StoreError::Log(error),
        })?;
        let line = event.to_line();
        let digest = Digest::of(line.as_bytes());
        transaction.execute(
            "INSERT INTO event (round, seq, line) VALUES (?1, ?2, ?3)",
            params![round.as_str(), event.seq, line],
        )?;
        append_to_server_log(transaction, round, event.seq, digest)?;
        self.logs.put(digest, next);
        Ok(Appended { event, digest })
    }

    /// The state of a log whose last event has the digest `head`.
    pub(super) fn log_state(
        &self,
        connection: &Connection,
        round: &RoundId,
        head: Digest,
    ) -> Result<LogState, StoreError> {
        if let Some(state) = self.logs.take(round, head) {
            return Ok(state);
        }
        let damaged = |problem: String| StoreError::Damaged {
            what: format!("the audit log of round `{round}`"),
            problem,
        };
        let lines = audit_lines(connection, round)?;
        let events = verify_chain(lines.iter().map(String::as_str))
            .map_err(|error| damaged(error.to_string()))?;
        let spec = spec_of(connection, round)?;
        replay(events.iter().map(|(event, _)| event), Some(&spec))
            .map_err(|error| damaged(error.to_string()))
    }

    /// The lines of a round's log.
    pub fn audit_lines(&self, round: &RoundId) -> Result<Vec<String>, StoreError> {
        audit_lines(&self.connection(), round)
    }

    /// Sequence number and digest of the last event.
    pub fn chain_head(&self, round: &RoundId) -> Result<(u64, Digest), StoreError> {
        chain_head(&self.connection(), round)
    }

    /// The signed end of a finished log. It is dated like the last event, after which nothing can be appended, so
    /// every call returns the same document.
    pub fn signed_log_head(&self, round: &RoundId) -> Result<SignedLogHead, StoreError> {
        let audience = self.spec(round)?.audience.clone();
        let lines = self.audit_lines(round)?;
        let last = lines.last().ok_or(Refusal::NotFound("round"))?;
        let event: Event = serde_json::from_str(last)?;
        let (seq, chain_head) = (event.seq, Digest::of(last.as_bytes()));
        let head = LogHead { audience, round: round.clone(), seq, chain_head, at: event.at };
        Ok(head.sign(&self.key))
    }
}

/// The refusal for a request whose event would break a rule of the log.
fn refusal(problem: &LogProblem) -> Option<Refusal> {
    Some(match problem {
        LogProblem::NotPossible { event: "accepted", state } => Refusal::NotOpen(*state),
        LogProblem::NotPossible { state, .. } => Refusal::NotPossible(*state),
        LogProblem::ReceivedLate { .. } => Refusal::TooLate,
        LogProblem::ReceivedAfterRevocation { client, .. } => {
            Refusal::KeyRevoked(client.to_string())
        }
        LogProblem::NotOnRoster(_) | LogProblem::RevokedTwice(_) => {
            Refusal::NotFound("client, or its key is already revoked")
        }
        LogProblem::TooFew { found, minimum } => {
            Refusal::TooFewSubmissions { found: *found, minimum: *minimum }
        }
        _ => return None,
    })
}

pub(super) fn audit_lines(
    connection: &Connection,
    round: &RoundId,
) -> Result<Vec<String>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT line FROM event WHERE round = ?1 ORDER BY seq")?;
    let lines = query.query_map([round.as_str()], |row| row.get(0))?;
    Ok(lines.collect::<Result<_, _>>()?)
}

fn chain_head(connection: &Connection, round: &RoundId) -> Result<(u64, Digest), StoreError> {
    let mut query = connection
        .prepare_cached("SELECT seq, line FROM event WHERE round = ?1 ORDER BY seq DESC LIMIT 1")?;
    let last: Option<(u64, String)> =
        query.query_row([round.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(last.map_or((0, Digest::ZERO), |(seq, line)| (seq, Digest::of(line.as_bytes()))))
}
