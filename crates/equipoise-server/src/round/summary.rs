//! What the public and the coordinator see of a round.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::history::History;
use super::rounds::Rounds;
use crate::protocol::{
    ClientStatus, Digest, Event, EventKind, ListedSubmission, PROGRAM, PublicKey, RefusedAttempt,
    RoundId, RoundInfo, RoundSpec, RoundState, SERVER_LOG_PAGE, ServerLogEntry, SignedServerHead,
};
use crate::store::StoreError;

/// A published file.
pub(crate) struct PublishedFile {
    pub(crate) name: String,
    pub(crate) sha256: Digest,
}

impl Rounds {
    /// All rounds, sorted by name.
    pub(crate) fn names(&self) -> Result<Vec<RoundId>, StoreError> {
        self.store.rounds()
    }

    /// The time by the server's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.store.clock().now()
    }

    /// The public state of a round.
    pub(crate) fn info(&self, round: &RoundId) -> Result<RoundInfo, StoreError> {
        let row = self.store.round(round)?;
        let spec = &row.spec;
        let files = match row.state {
            RoundState::Published => self.file_names(round)?,
            _ => Vec::new(),
        };
        Ok(RoundInfo {
            round: round.clone(),
            audience: spec.audience.clone(),
            program: PROGRAM.to_owned(),
            state: row.state,
            schema_sha256: spec.schema_sha256,
            server_key: self.store.key().public(),
            fairness: Some(spec.settings.fairness),
            n_clients: row.n_clients,
            n_submissions: row.n_submissions,
            minimum: spec.minimum,
            deadline: spec.deadline,
            limits: spec.limits.public(),
            progress: self.hub.progress(round),
            reason: row.reason,
            refused: self.refused.counts(round),
            files,
        })
    }

    /// The signed head of the server-wide log.
    pub(crate) fn server_head(&self) -> Result<SignedServerHead, StoreError> {
        self.store.signed_server_head()
    }

    /// A page of the server-wide log.
    pub(crate) fn server_log(&self, after: u64) -> Result<Vec<ServerLogEntry>, StoreError> {
        self.store.server_log(after, SERVER_LOG_PAGE)
    }

    /// The address that clients sign, as the round was set up with.
    pub(crate) fn audience(&self, round: &RoundId) -> Result<String, StoreError> {
        Ok(self.store.spec(round)?.audience.clone())
    }

    /// The schema as TOML.
    pub(crate) fn schema_toml(&self, round: &RoundId) -> Result<String, StoreError> {
        Ok(self.store.spec(round)?.schema_toml.clone())
    }

    /// What the coordinator fixed when the round was set up.
    pub(crate) fn spec(&self, round: &RoundId) -> Result<Arc<RoundSpec>, StoreError> {
        self.store.spec(round)
    }

    /// When the round reached each of its states, from its log.
    pub(crate) fn history(&self, round: &RoundId) -> Result<History, StoreError> {
        let lines = self.store.audit_lines(round)?;
        let events = lines.iter().map(|line| serde_json::from_str::<Event>(line));
        Ok(History::of(events.collect::<Result<Vec<_>, _>>()?))
    }

    /// The roster with submissions and refused uploads.
    pub(crate) fn clients(&self, round: &RoundId) -> Result<Vec<ClientStatus>, StoreError> {
        let submissions = self.store.submissions(round)?;
        let mut accepted_at = HashMap::new();
        for line in self.store.audit_lines(round)? {
            let event: Event = serde_json::from_str(&line)?;
            if let EventKind::Accepted { client, .. } = event.kind {
                accepted_at.insert(client, event.at);
            }
        }
        let refused = self.refused.latest(round);
        let status = |(key, revoked_at): (PublicKey, Option<Timestamp>)| {
            let client = key.name();
            let submission = submissions.iter().find(|submission| submission.client == *client);
            let refused = refused.iter().filter(|upload| upload.client == *client);
            ClientStatus {
                revoked_at,
                submitted: submission.is_some(),
                sha256: submission.map(|submission| submission.sha256),
                rows: submission.map(|submission| submission.rows),
                distinct_rows: submission.map(|submission| submission.distinct_rows),
                accepted_at: accepted_at.get(client).copied(),
                notes: submission.map_or_else(Vec::new, |own| notes(own, &submissions)),
                refused: refused
                    .map(|upload| RefusedAttempt { code: upload.code.to_owned(), at: upload.at })
                    .collect(),
                client: client.clone(),
            }
        };
        Ok(self.store.roster(round)?.into_iter().map(status).collect())
    }
}

/// What is unusual about a submission.
fn notes(submission: &ListedSubmission, all: &[ListedSubmission]) -> Vec<String> {
    let mut notes = Vec::new();
    let twins: Vec<&str> = all
        .iter()
        .filter(|other| other.client != submission.client)
        .filter(|other| other.canonical_sha256 == submission.canonical_sha256)
        .map(|other| other.client.as_str())
        .collect();
    if !twins.is_empty() {
        notes.push(format!("same rows as {}", twins.join(", ")));
    }
    if submission.distinct_rows * 2 < submission.rows {
        notes.push("most rows are duplicates".to_owned());
    }
    notes
}
