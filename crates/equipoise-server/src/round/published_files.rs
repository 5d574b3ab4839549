//! The files of a published round. They are served only by names that the database lists.

use equipoise_data::OutcomeFile;
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
            let sha256 = Digest::of(&self.file(round, name)?);
            files.push(PublishedFile { name: name.to_owned(), sha256 });
        }
        Ok(files)
    }

    /// The content of a published file.
    pub(crate) fn file(&self, round: &RoundId, name: &str) -> Result<Vec<u8>, StoreError> {
        let state = self.store.state(round)?;
        if state != RoundState::Published {
            return Err(Refusal::NotPublished(state).into());
        }
        if name == "audit.jsonl" {
            return Ok((self.store.audit_lines(round)?.join("\n") + "\n").into_bytes());
        }
        if name == "audit-head.json" {
            return Ok(serde_json::to_vec_pretty(&self.store.signed_log_head(round)?)?);
        }
        // Only names from the database are ever joined to a path.
        if !self.store.artefacts(round)?.iter().any(|(known, _)| known == name) {
            return Err(Refusal::NotFound("file").into());
        }
        let path = self.store.folder().published(round).join(name);
        std::fs::read(&path).map_err(StoreError::file(&path))
    }

    /// The outcome of a published round.
    pub(crate) fn outcome(&self, round: &RoundId) -> Option<OutcomeFile> {
        let path = self.store.folder().published(round).join("outcome.json");
        OutcomeFile::read(&path).inspect_err(|error| warn!(%error, "cannot show the outcome")).ok()
    }
}
