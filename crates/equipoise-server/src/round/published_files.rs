//! The files of a published round. They are served only by their known names.

use std::path::PathBuf;

use equipoise_core::Outcome;
use equipoise_data::outcome;
use tracing::warn;

use super::rounds::Rounds;
use super::summary::PublishedFile;
use crate::protocol::{Digest, LOG_FILES, Refusal, RoundId, RoundState};
use crate::store::StoreError;

impl Rounds {
    /// The names of all published files.
    pub(super) fn file_names(&self, round: &RoundId) -> Result<Vec<String>, StoreError> {
        let artefacts = self.store.artefacts(round)?.into_iter().map(|(name, _)| name);
        Ok(artefacts.chain(LOG_FILES.map(str::to_owned)).collect())
    }

    /// The published files with their digests; empty before publication.
    pub(crate) fn files(&self, round: &RoundId) -> Result<Vec<PublishedFile>, StoreError> {
        if self.store.state(round)? != RoundState::Published {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for (name, sha256) in self.store.artefacts(round)? {
            files.push(PublishedFile { name, sha256 });
        }
        for name in LOG_FILES {
            let sha256 = Digest::of(&self.log_file(round, name)?);
            files.push(PublishedFile { name: name.to_owned(), sha256 });
        }
        Ok(files)
    }

    /// The content of one of [`LOG_FILES`], which are not stored as files.
    pub(crate) fn log_file(&self, round: &RoundId, name: &str) -> Result<Vec<u8>, StoreError> {
        self.require_published(round)?;
        match name {
            "audit.jsonl" => Ok((self.store.audit_lines(round)?.join("\n") + "\n").into_bytes()),
            _ => Ok(serde_json::to_vec_pretty(&self.store.signed_log_head(round)?)?),
        }
    }

    /// The path of a published file.
    pub(crate) fn published_file(
        &self,
        round: &RoundId,
        name: &str,
    ) -> Result<PathBuf, StoreError> {
        self.require_published(round)?;
        self.store.published_path(round, name)
    }

    fn require_published(&self, round: &RoundId) -> Result<(), StoreError> {
        match self.store.state(round)? {
            RoundState::Published => Ok(()),
            state => Err(Refusal::NotPublished(state).into()),
        }
    }

    /// The outcome of a published round.
    pub(crate) fn outcome(&self, round: &RoundId) -> Option<Outcome> {
        let path = self.store.folder().published(round).join("outcome.json");
        outcome::read(&path).inspect_err(|error| warn!(%error, "cannot show the outcome")).ok()
    }
}
