//! The server-wide log in the database.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::events::audit_lines;
use super::query::parsed;
use super::{Store, StoreError};
use crate::protocol::{
    Digest, RoundHead, RoundId, ServerHead, ServerLogEntry, SignedServerHead, verify_server_log,
};

impl Store {
    /// At most `limit` entries of the server-wide log, starting after entry `after`.
    pub fn server_log(&self, after: u64, limit: u64) -> Result<Vec<ServerLogEntry>, StoreError> {
        server_log(&self.connection(), after, limit)
    }

    /// The signed head of the server-wide log.
    pub fn signed_server_head(&self) -> Result<SignedServerHead, StoreError> {
        let connection = self.connection();
        // One snapshot, so that the rounds are those of the head.
        let snapshot = connection.unchecked_transaction()?;
        let (n, head) = server_chain_head(&snapshot)?;
        let mut query = snapshot.prepare_cached(
            "SELECT round, max(seq), event FROM server_log GROUP BY round ORDER BY round",
        )?;
        let rounds = query.query_map([], |row| {
            Ok(RoundHead { round: parsed(row, 0)?, seq: row.get(1)?, chain_head: parsed(row, 2)? })
        })?;
        let rounds = rounds.collect::<Result<_, _>>()?;
        Ok(ServerHead { n, head, at: self.parts.clock.now(), rounds }.sign(&self.key))
    }

    /// Checks the chain of the server-wide log, and that it contains exactly the events of all rounds.
    pub(super) fn check_server_log(&self) -> Result<(), StoreError> {
        let damaged = |problem: String| {
            Err(StoreError::Damaged { what: "the server-wide log".into(), problem })
        };
        let connection = self.connection();
        let entries = server_log(&connection, 0, i64::MAX as u64)?;
        if let Err(error) = verify_server_log(&entries) {
            return damaged(error.to_string());
        }
        let mut heads = connection.prepare_cached("SELECT head FROM server_log ORDER BY n")?;
        let heads = heads.query_map([], |row| parsed::<Digest>(row, 0))?;
        for (entry, head) in entries.iter().zip(heads) {
            if entry.digest() != head? {
                return damaged(format!("the stored digest of line {} is wrong", entry.n));
            }
        }
        let n_events: u64 =
            connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0))?;
        if n_events != entries.len() as u64 {
            return damaged(format!("it has {} lines for {n_events} events", entries.len()));
        }
        let mut rounds = std::collections::BTreeMap::new();
        for entry in &entries {
            rounds.entry(&entry.round).or_insert_with(Vec::new).push(entry);
        }
        for (round, entries) in rounds {
            let lines = audit_lines(&connection, round)?;
            for (i, entry) in entries.into_iter().enumerate() {
                let digest = lines.get(i).map(|line| Digest::of(line.as_bytes()));
                if digest != Some(entry.event) {
                    let (n, seq) = (entry.n, entry.seq);
                    return damaged(format!("line {n} is not event {seq} of round `{round}`"));
                }
            }
        }
        Ok(())
    }
}

/// Appends the entry of an event that was just appended to the log of its round.
pub(super) fn append_to_server_log(
    transaction: &Transaction<'_>,
    round: &RoundId,
    seq: u64,
    event: Digest,
) -> Result<(), StoreError> {
    let (last, previous) = server_chain_head(transaction)?;
    let entry = ServerLogEntry { n: last + 1, previous, round: round.clone(), seq, event };
    transaction.execute(
        "INSERT INTO server_log (n, round, seq, event, head) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![entry.n, round.as_str(), seq, event.to_string(), entry.digest().to_string()],
    )?;
    Ok(())
}

fn server_log(
    connection: &Connection,
    after: u64,
    limit: u64,
) -> Result<Vec<ServerLogEntry>, StoreError> {
    let (after, limit) = (after.min(i64::MAX as u64), limit.min(i64::MAX as u64));
    // The digest of the previous entry is in the previous row.
    let mut query = connection.prepare_cached(
        "SELECT n, (SELECT head FROM server_log AS before WHERE before.n = server_log.n - 1), round, seq, event
         FROM server_log WHERE n > ?1 ORDER BY n LIMIT ?2",
    )?;
    let entries = query.query_map(params![after, limit], |row| {
        let previous: Option<String> = row.get(1)?;
        Ok(ServerLogEntry {
            n: row.get(0)?,
            previous: previous.map_or(Ok(Digest::ZERO), |_| parsed(row, 1))?,
            round: parsed(row, 2)?,
            seq: row.get(3)?,
            event: parsed(row, 4)?,
        })
    })?;
    Ok(entries.collect::<Result<_, _>>()?)
}

fn server_chain_head(connection: &Connection) -> Result<(u64, Digest), StoreError> {
    let mut query =
        connection.prepare_cached("SELECT n, head FROM server_log ORDER BY n DESC LIMIT 1")?;
    let last = query.query_row([], |row| Ok((row.get(0)?, parsed(row, 1)?))).optional()?;
    Ok(last.unwrap_or((0, Digest::ZERO)))
}
