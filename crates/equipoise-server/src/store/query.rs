//! What the store knows.

use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::{Store, StoreError};
use crate::protocol::{
    Digest, ListedSubmission, Name, PublicKey, Refusal, RoundState, Signature, SignedReceipt,
    SubmissionList,
};
use crate::round::RoundSpec;

/// A round as it stands.
#[derive(Debug, Clone)]
pub struct RoundRow {
    /// What it is.
    pub spec: Arc<RoundSpec>,
    /// Where it stands.
    pub state: RoundState,
    /// Why it failed or was aborted.
    pub reason: Option<String>,
    /// Clients of the roster.
    pub n_clients: u64,
    /// Clients that may still submit: neither revoked nor done.
    pub n_awaited: u64,
    /// Accepted submissions.
    pub n_submissions: u64,
}

/// An accepted submission.
#[derive(Debug, Clone)]
pub struct StoredSubmission {
    /// The client.
    pub client: Name,
    /// Digest of what it sent.
    pub sha256: Digest,
    /// Digest of the checked table.
    pub canonical_sha256: Digest,
    /// What the server gave it.
    pub receipt: SignedReceipt,
    /// The manifest in its canonical form.
    pub manifest: String,
    /// The client's signature over it.
    pub signature: Signature,
}

fn damaged(what: &str) -> impl Fn() -> StoreError + '_ {
    move || StoreError::Damaged { what: "the database".into(), problem: what.to_owned() }
}

impl Store {
    /// All rounds, sorted by name.
    pub fn rounds(&self) -> Result<Vec<Name>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached("SELECT id FROM round ORDER BY id")?;
        let names = query.query_map([], |row| row.get::<_, String>(0))?;
        names.map(|name| name?.parse().map_err(|_| damaged("a round's name")())).collect()
    }

    /// What a round is.
    pub fn spec(&self, round: &Name) -> Result<Arc<RoundSpec>, StoreError> {
        let specs = self.specs.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = specs.get(round) {
            return Ok(Arc::clone(spec));
        }
        drop(specs);
        let text: Option<String> = self
            .connection()
            .query_row("SELECT spec FROM round WHERE id = ?1", [round.as_str()], |row| row.get(0))
            .optional()?;
        let text = text.ok_or(Refusal::NotFound { what: "such round" })?;
        let spec: Arc<RoundSpec> = Arc::new(serde_json::from_str(&text)?);
        let mut specs = self.specs.write().unwrap_or_else(PoisonError::into_inner);
        specs.insert(round.clone(), Arc::clone(&spec));
        Ok(spec)
    }

    /// A round as it stands.
    pub fn round(&self, round: &Name) -> Result<RoundRow, StoreError> {
        let spec = self.spec(round)?;
        let connection = self.connection();
        // Looked up in the submissions' own index, client by client: a list of them would be made again for each.
        let mut query = connection.prepare_cached(
            "SELECT state, reason,
                (SELECT count(*) FROM client WHERE round = ?1),
                (SELECT count(*) FROM client WHERE round = ?1 AND revoked_at IS NULL AND NOT EXISTS
                    (SELECT 1 FROM submission WHERE round = ?1 AND submission.client = client.name)),
                (SELECT count(*) FROM submission WHERE round = ?1)
             FROM round WHERE id = ?1",
        )?;
        let (state, reason, n_clients, n_awaited, n_submissions) =
            query.query_row([round.as_str()], |row| {
                let state: String = row.get(0)?;
                Ok((state, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })?;
        let state = state.parse().map_err(|_| damaged("a round's state")())?;
        Ok(RoundRow { spec, state, reason, n_clients, n_awaited, n_submissions })
    }

    /// Where a round stands.
    pub fn state(&self, round: &Name) -> Result<RoundState, StoreError> {
        state_of(&self.connection(), round)
    }

    /// A client's key, and since when it is revoked.
    pub fn client_key(
        &self,
        round: &Name,
        client: &Name,
    ) -> Result<Option<(PublicKey, Option<Timestamp>)>, StoreError> {
        let found: Option<(String, Option<String>)> = self
            .connection()
            .query_row(
                "SELECT public_key, revoked_at FROM client WHERE round = ?1 AND name = ?2",
                params![round.as_str(), client.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((key, revoked_at)) = found else { return Ok(None) };
        let key = key.parse().map_err(|_| damaged("a client's key")())?;
        let revoked_at = revoked_at
            .map(|at| at.parse().map_err(|_| damaged("the time of a revocation")()))
            .transpose()?;
        Ok(Some((key, revoked_at)))
    }

    /// The clients of a round, sorted, and since when a key is revoked.
    pub fn roster(&self, round: &Name) -> Result<Vec<(PublicKey, Option<String>)>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT public_key, revoked_at FROM client WHERE round = ?1 ORDER BY name",
        )?;
        let rows =
            query.query_map([round.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        rows.map(|row| {
            let (key, revoked_at) = row?;
            Ok((key.parse().map_err(|_| damaged("a client's key")())?, revoked_at))
        })
        .collect()
    }

    /// A client's accepted submission.
    pub fn submission(
        &self,
        round: &Name,
        client: &Name,
    ) -> Result<Option<StoredSubmission>, StoreError> {
        submission(&self.connection(), round, client)
    }

    /// All accepted submissions, sorted by client.
    pub fn submissions(&self, round: &Name) -> Result<Vec<StoredSubmission>, StoreError> {
        submissions(&self.connection(), round)
    }

    /// Whether this is the digest of the coordinator's token.
    pub fn token_digest(&self, round: &Name) -> Result<Digest, StoreError> {
        let found: Option<String> = self
            .connection()
            .query_row("SELECT token_sha256 FROM round WHERE id = ?1", [round.as_str()], |row| {
                row.get(0)
            })
            .optional()?;
        let found = found.ok_or(Refusal::NotFound { what: "such round" })?;
        found.parse().map_err(|_| damaged("a token's digest")())
    }

    /// The frozen list of a closed round.
    pub fn submission_list(&self, round: &Name) -> Result<SubmissionList, StoreError> {
        let text: Option<String> = self.connection().query_row(
            "SELECT submissions FROM round WHERE id = ?1",
            [round.as_str()],
            |row| row.get(0),
        )?;
        Ok(serde_json::from_str(&text.ok_or_else(damaged("the list of submissions"))?)?)
    }

    /// Names and digests of the published files.
    pub fn artefacts(&self, round: &Name) -> Result<Vec<(String, Digest)>, StoreError> {
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT name, sha256 FROM artefact WHERE round = ?1 ORDER BY name")?;
        let rows =
            query.query_map([round.as_str()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
        rows.map(|row| {
            let (name, digest) = row?;
            Ok((name, digest.parse().map_err(|_| damaged("a file's digest")())?))
        })
        .collect()
    }
}

pub(super) fn state_of(
    connection: &rusqlite::Connection,
    round: &Name,
) -> Result<RoundState, StoreError> {
    let mut query = connection.prepare_cached("SELECT state FROM round WHERE id = ?1")?;
    let state: Option<String> = query.query_row([round.as_str()], |row| row.get(0)).optional()?;
    let state = state.ok_or(Refusal::NotFound { what: "such round" })?;
    state.parse().map_err(|problem| StoreError::Damaged { what: "the database".into(), problem })
}

const COLUMNS: &str =
    "SELECT client, sha256, canonical_sha256, receipt, manifest, signature FROM submission";

type Texts = [String; 6];

fn texts(row: &rusqlite::Row<'_>) -> rusqlite::Result<Texts> {
    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
}

fn stored(
    [client, sha256, canonical, receipt, manifest, signature]: Texts,
) -> Result<StoredSubmission, StoreError> {
    let broken = damaged("a submission");
    Ok(StoredSubmission {
        client: client.parse().map_err(|_| broken())?,
        sha256: sha256.parse().map_err(|_| broken())?,
        canonical_sha256: canonical.parse().map_err(|_| broken())?,
        receipt: serde_json::from_str(&receipt)?,
        manifest,
        signature: signature.parse().map_err(|_| broken())?,
    })
}

pub(super) fn submission(
    connection: &rusqlite::Connection,
    round: &Name,
    client: &Name,
) -> Result<Option<StoredSubmission>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("{COLUMNS} WHERE round = ?1 AND client = ?2"))?;
    let found = query.query_row(params![round.as_str(), client.as_str()], texts).optional()?;
    found.map(stored).transpose()
}

pub(super) fn submissions(
    connection: &rusqlite::Connection,
    round: &Name,
) -> Result<Vec<StoredSubmission>, StoreError> {
    let mut query =
        connection.prepare_cached(&format!("{COLUMNS} WHERE round = ?1 ORDER BY client"))?;
    let rows = query.query_map([round.as_str()], texts)?;
    rows.map(|row| stored(row?)).collect()
}

impl StoredSubmission {
    /// The submission as the list of a closed round has it.
    pub(super) fn listed(self, same_table_as: Option<Name>) -> ListedSubmission {
        ListedSubmission {
            client: self.client,
            sha256: self.sha256,
            canonical_sha256: self.canonical_sha256,
            rows: self.receipt.receipt.rows,
            distinct_rows: self.receipt.receipt.distinct_rows,
            same_table_as,
            manifest: self.manifest,
            signature: self.signature,
            receipt: self.receipt,
        }
    }
}
