//! Collects the data that pages show.

use std::collections::HashMap;

use equipoise_data::OutcomeFile;
use jiff::Timestamp;
use tracing::warn;

use super::app::App;
use super::results::log_file;
use crate::pages::{ClientView, PublishedFile, RoundView};
use crate::protocol::{Digest, Event, EventKind, LOG_FILES, Name, PublicKey, RoundState};
use crate::store::StoreError;

impl App {
    pub(super) fn round_view(&self, round: &Name) -> Result<RoundView, StoreError> {
        let info = self.info(round)?;
        let (mut files, mut outcome) = (Vec::new(), None);
        if info.state == RoundState::Published {
            for (name, sha256) in self.store.artefacts(round)? {
                files.push(PublishedFile { name, sha256 });
            }
            for name in LOG_FILES {
                let sha256 = Digest::of(&log_file(self, round, name)?);
                files.push(PublishedFile { name: name.to_owned(), sha256 });
            }
            let path = self.store.folder().published(round).join("outcome.json");
            outcome = OutcomeFile::read(&path)
                .inspect_err(|error| warn!(%error, "cannot show the outcome"))
                .ok();
        }
        let fairness = self.store.spec(round)?.settings.fairness;
        Ok(RoundView { info, fairness, now: self.store.clock().now(), files, outcome })
    }

    /// The roster with submissions, for the coordinator.
    pub(super) fn client_views(&self, round: &Name) -> Result<Vec<ClientView>, StoreError> {
        let submissions = self.store.submissions(round)?.into_iter();
        let mut submissions: HashMap<_, _> = submissions.map(|s| (s.client.clone(), s)).collect();
        let mut accepted_at = HashMap::new();
        for line in self.store.audit_lines(round)? {
            let event: Event = serde_json::from_str(&line)?;
            if let EventKind::Accepted { client, .. } = event.kind {
                accepted_at.insert(client, event.at);
            }
        }
        let view = |(key, revoked_at): (PublicKey, Option<Timestamp>)| ClientView {
            client: key.name().clone(),
            revoked_at,
            submission: submissions.remove(key.name()),
            accepted_at: accepted_at.remove(key.name()),
        };
        Ok(self.store.roster(round)?.into_iter().map(view).collect())
    }
}
