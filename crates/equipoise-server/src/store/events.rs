//! The audit log in the database.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Store, StoreError};
use crate::protocol::{Digest, Event, EventKind, Name};

/// Where an event was appended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Appended {
    pub(super) seq: u64,
    pub(super) head: Digest,
    pub(super) at: Timestamp,
}

impl Store {
    /// Appends an event inside a transaction.
    pub(super) fn append(
        &self,
        transaction: &Transaction<'_>,
        round: &Name,
        kind: EventKind,
    ) -> Result<Appended, StoreError> {
        let last = last_line(transaction, round)?;
        let (seq, previous) = match &last {
            Some((seq, line)) => (seq + 1, Digest::of(line.as_bytes())),
            None => (1, Digest::ZERO),
        };
        let event = Event { seq, previous, at: self.clock.now(), round: round.clone(), kind };
        let line = event.to_line();
        transaction.execute(
            "INSERT INTO event (round, seq, line) VALUES (?1, ?2, ?3)",
            params![round.as_str(), seq, line],
        )?;
        Ok(Appended { seq, head: Digest::of(line.as_bytes()), at: event.at })
    }

    /// The log of a round, line by line.
    pub fn audit_lines(&self, round: &Name) -> Result<Vec<String>, StoreError> {
        let connection = self.connection();
        let mut query =
            connection.prepare_cached("SELECT line FROM event WHERE round = ?1 ORDER BY seq")?;
        let lines = query.query_map([round.as_str()], |row| row.get(0))?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Number and digest of the last event.
    pub fn chain_head(&self, round: &Name) -> Result<(u64, Digest), StoreError> {
        let last = last_line(&self.connection(), round)?;
        Ok(last.map_or((0, Digest::ZERO), |(seq, line)| (seq, Digest::of(line.as_bytes()))))
    }
}

fn last_line(
    connection: &rusqlite::Connection,
    round: &Name,
) -> Result<Option<(u64, String)>, StoreError> {
    use rusqlite::OptionalExtension as _;
    let mut query = connection
        .prepare_cached("SELECT seq, line FROM event WHERE round = ?1 ORDER BY seq DESC LIMIT 1")?;
    Ok(query.query_row([round.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}
