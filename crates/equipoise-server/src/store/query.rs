//! Queries.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::publication_check::known_name;
use super::{Store, StoreError};
use crate::protocol::{
    ClientId, Digest, ListedSubmission, PublicKey, Refusal, RoundId, RoundSpec, RoundState,
    SignedReceipt, SubmissionList,
};

/// The current state of a round.
#[derive(Debug, Clone)]
pub struct RoundRow {
    /// Its specification.
    pub spec: Arc<RoundSpec>,
    /// Its state.
    pub state: RoundState,
    /// Why it failed or was aborted.
    pub reason: Option<String>,
    /// Number of clients on the roster.
    pub n_clients: u64,
    /// Number of clients that can still submit.
    pub n_pending: u64,
    /// Number of accepted submissions.
    pub n_submissions: u64,
}

impl Store {
    /// All rounds, sorted by name.
    pub fn rounds(&self) -> Result<Vec<RoundId>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT id FROM round ORDER BY id")?;
        let names = query.query_map([], |row| parsed(row, 0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// The specification of a round.
    pub fn spec(&self, round: &RoundId) -> Result<Arc<RoundSpec>, StoreError> {
        let specs = self.specs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = specs.get(round) {
            return Ok(Arc::clone(spec));
        }
        drop(specs);
        let spec = Arc::new(spec_of(&self.connection(), round)?);
        let mut specs = self.specs.write().unwrap_or_else(PoisonError::into_inner);
        specs.insert(round.clone(), Arc::clone(&spec));
        Ok(spec)
    }

    /// The specification as it was stored when the round was created. The first event of the log has its digest.
    pub fn spec_json(&self, round: &RoundId) -> Result<String, StoreError> {
        round_column(&self.connection(), round, "spec")
    }

    /// The current state of a round, with counts.
    pub fn round(&self, round: &RoundId) -> Result<RoundRow, StoreError> {
        let spec = self.spec(round)?;
        let connection = self.connection();
        // NOT EXISTS uses the index of the submissions; a joined list would be rebuilt for each client.
        let mut query = connection.prepare_cached(
            "SELECT state, reason,
                (SELECT count(*) FROM client WHERE round = ?1),
                (SELECT count(*) FROM client WHERE round = ?1 AND revoked_at IS NULL AND NOT EXISTS
                    (SELECT 1 FROM submission WHERE round = ?1 AND submission.client = client.name)),
                (SELECT count(*) FROM submission WHERE round = ?1)
             FROM round WHERE id = ?1",
        )?;
        Ok(query.query_row([round.as_str()], |row| {
            Ok(RoundRow {
                spec,
                state: parsed(row, 0)?,
                reason: row.get(1)?,
                n_clients: row.get(2)?,
                n_pending: row.get(3)?,
                n_submissions: row.get(4)?,
            })
        })?)
    }

    /// The state of a round.
    pub fn state(&self, round: &RoundId) -> Result<RoundState, StoreError> {
        state_of(&self.connection(), round)
    }

    /// A client's key, and when it was revoked.
    pub fn client_key(
        &self,
        round: &RoundId,
        client: &ClientId,
    ) -> Result<Option<(PublicKey, Option<Timestamp>)>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached(&format!("{SELECT_CLIENT} WHERE round = ?1 AND name = ?2"))?;
        Ok(query.query_row([round.as_str(), client.as_str()], client_from_row).optional()?)
    }

    /// The names of a round's clients, sorted.
    pub(super) fn client_names(&self, round: &RoundId) -> Result<Vec<ClientId>, StoreError> {
        let connection = self.connection();
        let mut query =
            connection.prepare_cached("SELECT name FROM client WHERE round = ?1 ORDER BY name")?;
        let names = query.query_map([round.as_str()], |row| parsed(row, 0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// The clients of a round, sorted by name, with the times at which keys were revoked.
    pub fn roster(
        &self,
        round: &RoundId,
    ) -> Result<Vec<(PublicKey, Option<Timestamp>)>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached(&format!("{SELECT_CLIENT} WHERE round = ?1 ORDER BY name"))?;
        let clients = query.query_map([round.as_str()], client_from_row)?;
        Ok(clients.collect::<Result<_, _>>()?)
    }

    /// A client's accepted submission.
    pub fn submission(
        &self,
        round: &RoundId,
        client: &ClientId,
    ) -> Result<Option<ListedSubmission>, StoreError> {
        submission(&self.connection(), round, client)
    }

    /// All accepted submissions, sorted by client.
    pub fn submissions(&self, round: &RoundId) -> Result<Vec<ListedSubmission>, StoreError> {
        submissions(&self.connection(), round)
    }

    /// The digest of the coordinator's token.
    pub fn token_digest(&self, round: &RoundId) -> Result<Digest, StoreError> {
        let text: String = round_column(&self.connection(), round, "token_sha256")?;
        text.parse().map_err(|_| StoreError::damaged_database("invalid token digest"))
    }

    /// The submission list of a closed round.
    pub fn submission_list(&self, round: &RoundId) -> Result<SubmissionList, StoreError> {
        let list = self.stored_submission_list(round)?;
        list.ok_or_else(|| StoreError::damaged_database("no submission list"))
    }

    /// The submission list, if the round was closed.
    pub(super) fn stored_submission_list(
        &self,
        round: &RoundId,
    ) -> Result<Option<SubmissionList>, StoreError> {
        let text: Option<String> = round_column(&self.connection(), round, "submissions")?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Names and digests of the published files.
    pub fn artefacts(&self, round: &RoundId) -> Result<Vec<(String, Digest)>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT name, sha256 FROM artefact WHERE round = ?1 ORDER BY name")?;
        let files = query.query_map([round.as_str()], |row| Ok((row.get(0)?, parsed(row, 1)?)))?;
        let files: Vec<(String, Digest)> = files.collect::<Result<_, _>>()?;
        match files.iter().find(|(name, _)| known_name(name).is_none()) {
            None => Ok(files),
            Some((name, _)) => Err(StoreError::damaged_database(format!(
                "`{name}` of round `{round}` is not the name of a published file"
            ))),
        }
    }
}

/// The specification of a round.
pub(super) fn spec_of(connection: &Connection, round: &RoundId) -> Result<RoundSpec, StoreError> {
    let text: String = round_column(connection, round, "spec")?;
    Ok(serde_json::from_str(&text)?)
}

/// A text column of a row, parsed.
pub(super) fn parsed<T: FromStr<Err: Display>>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    text.parse().map_err(|error: T::Err| {
        let error = error.to_string().into();
        rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error)
    })
}

fn round_column<T: FromSql>(
    connection: &Connection,
    round: &RoundId,
    column: &str,
) -> Result<T, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("SELECT {column} FROM round WHERE id = ?1"))?;
    let value = query.query_row([round.as_str()], |row| row.get(0)).optional()?;
    Ok(value.ok_or(Refusal::NotFound("round"))?)
}

pub(super) fn state_of(connection: &Connection, round: &RoundId) -> Result<RoundState, StoreError> {
    let text: String = round_column(connection, round, "state")?;
    text.parse().map_err(StoreError::damaged_database)
}

const SELECT_CLIENT: &str = "SELECT public_key, revoked_at FROM client";

fn client_from_row(row: &Row<'_>) -> rusqlite::Result<(PublicKey, Option<Timestamp>)> {
    let revoked_at: Option<String> = row.get(1)?;
    Ok((parsed(row, 0)?, revoked_at.map(|_| parsed(row, 1)).transpose()?))
}

const SELECT_SUBMISSION: &str = "SELECT client, sha256, canonical_sha256, receipt, manifest, signature, rows, distinct_rows FROM submission";

pub(super) fn submission(
    connection: &Connection,
    round: &RoundId,
    client: &ClientId,
) -> Result<Option<ListedSubmission>, StoreError> {
    let mut query = connection
        .prepare_cached(&format!("{SELECT_SUBMISSION} WHERE round = ?1 AND client = ?2"))?;
    Ok(query.query_row(params![round.as_str(), client.as_str()], submission_from_row).optional()?)
}

pub(super) fn submissions(
    connection: &Connection,
    round: &RoundId,
) -> Result<Vec<ListedSubmission>, StoreError> {
    let mut query = connection
        .prepare_cached(&format!("{SELECT_SUBMISSION} WHERE round = ?1 ORDER BY client"))?;
    let found = query.query_map([round.as_str()], submission_from_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn submission_from_row(row: &Row<'_>) -> rusqlite::Result<ListedSubmission> {
    let receipt: String = row.get(3)?;
    let receipt: SignedReceipt = serde_json::from_str(&receipt)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(3, Type::Text, error.into()))?;
    Ok(ListedSubmission {
        client: parsed(row, 0)?,
        sha256: parsed(row, 1)?,
        canonical_sha256: parsed(row, 2)?,
        rows: row.get(6)?,
        distinct_rows: row.get(7)?,
        same_table_as: None,
        receipt,
        manifest: row.get(4)?,
        signature: parsed(row, 5)?,
    })
}
