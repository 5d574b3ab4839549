//! The audit log in the database.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Store, StoreError};
use crate::protocol::{Digest, Event, EventKind, Name};

#[derive(Debug, Clone, Copy)]
pub(super) struct Appended {
    pub(super) seq: u64,
    pub(super) head: Digest,
    pub(super) at: Timestamp,
}

impl Store {
    pub(super) fn append(
        &self,
        transaction: &Transaction<'_>,
        round: &Name,
        kind: EventKind,
    ) -> Result<Appended, StoreError> {
        let (last, previous) = chain_head(transaction, round)?;
        let seq = last + 1;
        let event = Event { seq, previous, at: self.parts.clock.now(), round: round.clone(), kind };
        let line = event.to_line();
        transaction.execute(
            "INSERT INTO event (round, seq, line) VALUES (?1, ?2, ?3)",
            params![round.as_str(), seq, line],
        )?;
        Ok(Appended { seq, head: Digest::of(line.as_bytes()), at: event.at })
    }

    /// The lines of a round's log.
    pub fn audit_lines(&self, round: &Name) -> Result<Vec<String>, StoreError> {
        let connection = self.connection();
        let mut query =
            connection.prepare_cached("SELECT line FROM event WHERE round = ?1 ORDER BY seq")?;
        let lines = query.query_map([round.as_str()], |row| row.get(0))?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Sequence number and digest of the last event.
    pub fn chain_head(&self, round: &Name) -> Result<(u64, Digest), StoreError> {
        chain_head(&self.connection(), round)
    }
}

fn chain_head(connection: &Connection, round: &Name) -> Result<(u64, Digest), StoreError> {
    let mut query = connection
        .prepare_cached("SELECT seq, line FROM event WHERE round = ?1 ORDER BY seq DESC LIMIT 1")?;
    let last: Option<(u64, String)> =
        query.query_row([round.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(last.map_or((0, Digest::ZERO), |(seq, line)| (seq, Digest::of(line.as_bytes()))))
}
