//! What the public and the coordinator see of a round.

use std::collections::HashMap;

use equipoise_core::Fairness;
use jiff::Timestamp;

use super::rounds::Rounds;
use crate::protocol::{
    ClientId, Digest, Event, EventKind, ListedSubmission, PROGRAM, PublicKey, RoundId, RoundInfo,
    RoundState, SERVER_LOG_PAGE, ServerLogEntry, SignedServerHead,
};
use crate::store::StoreError;

/// A published file.
pub(crate) struct PublishedFile {
    pub(crate) name: String,
    pub(crate) sha256: Digest,
}

/// A client, as the coordinator sees it.
pub(crate) struct ClientSummary {
    pub(crate) client: ClientId,
    pub(crate) revoked_at: Option<Timestamp>,
    pub(crate) submission: Option<ListedSubmission>,
    pub(crate) accepted_at: Option<Timestamp>,
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

    /// The fairness criterion of the round.
    pub(crate) fn fairness(&self, round: &RoundId) -> Result<Fairness, StoreError> {
        Ok(self.store.spec(round)?.settings.fairness)
    }

    /// The roster with submissions.
    pub(crate) fn clients(&self, round: &RoundId) -> Result<Vec<ClientSummary>, StoreError> {
        let submissions = self.store.submissions(round)?.into_iter();
        let mut submissions: HashMap<_, _> = submissions.map(|s| (s.client.clone(), s)).collect();
        let mut accepted_at = HashMap::new();
        for line in self.store.audit_lines(round)? {
            let event: Event = serde_json::from_str(&line)?;
            if let EventKind::Accepted { client, .. } = event.kind {
                accepted_at.insert(client, event.at);
            }
        }
        let summary = |(key, revoked_at): (PublicKey, Option<Timestamp>)| ClientSummary {
            client: key.name().clone(),
            revoked_at,
            submission: submissions.remove(key.name()),
            accepted_at: accepted_at.remove(key.name()),
        };
        Ok(self.store.roster(round)?.into_iter().map(summary).collect())
    }
}
