//! What pages show, looked up.

use std::collections::HashMap;

use equipoise_data::OutcomeFile;
use jiff::Timestamp;
use tracing::warn;

use super::app::App;
use super::results::published_file;
use crate::pages::{ClientView, PublishedFile, RoundView, SubmissionView};
use crate::protocol::{Digest, Event, EventKind, Name, RoundState};
use crate::round::LOG_FILES;
use crate::store::StoreError;

impl App {
    /// A round, as anyone may see it.
    pub(super) fn round_view(&self, round: &Name) -> Result<RoundView, StoreError> {
        let info = self.info(round)?;
        let (mut files, mut outcome) = (Vec::new(), None);
        if info.state == RoundState::Published {
            for (name, sha256) in self.store.artefacts(round)? {
                files.push(PublishedFile { name, sha256 });
            }
            for name in LOG_FILES {
                let sha256 = Digest::of(&published_file(self, round, name)?);
                files.push(PublishedFile { name: name.to_owned(), sha256 });
            }
            let path = self.store.folder().published(round).join("outcome.json");
            outcome = OutcomeFile::read(&path)
                .inspect_err(|error| warn!(%error, "the outcome cannot be shown"))
                .ok();
        }
        let fairness = self.store.spec(round)?.settings.fairness;
        Ok(RoundView { info, fairness, now: self.store.clock().now(), files, outcome })
    }

    /// The roster with what each client sent, for the coordinator.
    pub(super) fn client_views(&self, round: &Name) -> Result<Vec<ClientView>, StoreError> {
        let submissions = self.store.submissions(round)?;
        let times = self.times_of_acceptance(round)?;
        let view = |(key, revoked_at): (crate::protocol::PublicKey, Option<String>)| {
            let client = key.name().clone();
            let found = submissions.iter().find(|sent| sent.client == client);
            let submission = found.map(|sent| SubmissionView {
                at: times.get(&client).copied(),
                rows: sent.receipt.receipt.rows,
                distinct_rows: sent.receipt.receipt.distinct_rows,
                same_table_as: submissions
                    .iter()
                    .filter(|other| {
                        other.client != client && other.canonical_sha256 == sent.canonical_sha256
                    })
                    .map(|other| other.client.clone())
                    .collect(),
            });
            ClientView { client, revoked_at, submission }
        };
        Ok(self.store.roster(round)?.into_iter().map(view).collect())
    }

    fn times_of_acceptance(&self, round: &Name) -> Result<HashMap<Name, Timestamp>, StoreError> {
        let mut times = HashMap::new();
        for line in self.store.audit_lines(round)? {
            let event: Event = serde_json::from_str(&line)?;
            if let EventKind::Accepted { client, .. } = event.kind {
                times.insert(client, event.at);
            }
        }
        Ok(times)
    }
}
