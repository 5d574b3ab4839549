//! The published files of a round: only known names, and only what the signed statement says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::private::open_regular;
use super::{Store, StoreError};
use crate::protocol::{
    Digest, PUBLISHED_FILES, Refusal, RoundId, RoundSpec, STATEMENT_FILE, SignedStatement,
};

impl Store {
    /// The path of a published file. A name that is not in the list of published files is never joined to a path.
    pub fn published_path(&self, round: &RoundId, name: &str) -> Result<PathBuf, StoreError> {
        let known = known_name(name).ok_or(Refusal::NotFound("file"))?;
        let path = self.folder.published(round).join(known);
        open_regular(&path).map_err(StoreError::file(&path))?;
        Ok(path)
    }

    /// Checks files and rows of a publication against the statement whose digest the log recorded. A round without
    /// one has no rows.
    pub(super) fn check_publication(
        &self,
        spec: &RoundSpec,
        recorded: Option<Digest>,
    ) -> Result<(), StoreError> {
        let round = &spec.round;
        let rows: BTreeMap<String, Digest> = self.artefacts(round)?.into_iter().collect();
        let Some(statement_sha256) = recorded else {
            return match rows.is_empty() {
                true => Ok(()),
                false => {
                    Err(damaged(round, "the list of published files", "nothing was published"))
                }
            };
        };
        let folder = self.folder.published(round);
        let path = folder.join(STATEMENT_FILE);
        self.check_file(STATEMENT_FILE, &path, statement_sha256)?;
        let file = open_regular(&path).map_err(StoreError::file(&path))?;
        let signed: SignedStatement = serde_json::from_reader(std::io::BufReader::new(file))
            .map_err(|error| damaged(round, STATEMENT_FILE, &error.to_string()))?;
        let statement = &signed.statement;
        let is_ours = signed.has_valid_signature() && signed.server_key == self.key.public();
        if !is_ours || statement.round != *round || statement.audience != spec.audience {
            return Err(damaged(
                round,
                STATEMENT_FILE,
                "the server did not sign it for this round",
            ));
        }
        if !statement.subjects.iter().map(|subject| subject.name.as_str()).eq(PUBLISHED_FILES) {
            return Err(damaged(round, STATEMENT_FILE, "it does not list the published files"));
        }
        let mut expected: BTreeMap<String, Digest> =
            statement.subjects.iter().map(|s| (s.name.clone(), s.sha256)).collect();
        for (name, digest) in &expected {
            self.check_file(name, &folder.join(name), *digest)?;
        }
        expected.insert(STATEMENT_FILE.to_owned(), statement_sha256);
        match rows == expected {
            true => Ok(()),
            false => {
                Err(damaged(round, "the list of published files", "it differs from the statement"))
            }
        }
    }
}

/// The name, if it is that of a published file.
pub(super) fn known_name(name: &str) -> Option<&'static str> {
    PUBLISHED_FILES.into_iter().chain([STATEMENT_FILE]).find(|known| *known == name)
}

fn damaged(round: &RoundId, what: &str, problem: &str) -> StoreError {
    StoreError::Damaged { what: format!("{what} of round `{round}`"), problem: problem.to_owned() }
}
