//! The integrity check at startup: chains, receipts, files. Damage is reported, never repaired.

use std::collections::BTreeSet;
use std::path::Path;

use super::folder::digest_of_file;
use super::query::RoundRow;
use super::{Store, StoreError};
use crate::protocol::{
    Digest, Event, EventKind, ListedSubmission, Manifest, Name, RoundState, replay, verify_chain,
};

type Events = [(Event, Digest)];

impl Store {
    /// Checks every round, then removes files left by interrupted uploads.
    pub(super) fn check_everything(&self) -> Result<(), StoreError> {
        for round in self.rounds()? {
            self.check_round(&round)?;
        }
        self.check_server_log()?;
        for folder in ["uploads", "canonical"] {
            self.remove_interrupted_uploads(folder)?;
        }
        self.remove_orphans()
    }

    fn check_round(&self, round: &Name) -> Result<(), StoreError> {
        let damaged = |what: &str, problem: String| {
            Err(StoreError::Damaged { what: format!("{what} of round `{round}`"), problem })
        };
        let spec = self.spec(round)?;
        let lines = self.audit_lines(round)?;
        let events = match verify_chain(lines.iter().map(String::as_str)) {
            Ok(events) => events,
            Err(error) => return damaged("the audit log", error.to_string()),
        };
        let log = match replay(events.iter().map(|(event, _)| event), Some(&spec)) {
            Ok(log) => log,
            Err(error) => return damaged("the audit log", error.to_string()),
        };
        let Some(EventKind::Created { server_key, roster, token_check, .. }) =
            events.first().map(|(event, _)| &event.kind)
        else {
            return damaged(
                "the audit log",
                "it does not start with the creation of the round".into(),
            );
        };
        if log.spec_sha256 != Digest::of(self.spec_json(round)?.as_bytes()) {
            return damaged("the specification", "its digest differs".into());
        }
        if !server_key.same_key(&self.key.public()) {
            return damaged("server.key", "the round was set up with another key".into());
        }
        let stored = self.roster(round)?;
        if !stored.iter().map(|(key, _)| key).eq(roster) {
            return damaged("the roster", "it differs from the audit log".into());
        }
        if stored.iter().any(|(key, revoked_at)| revoked_at.as_ref() != log.revoked.get(key.name()))
        {
            return damaged("the roster", "its revoked keys differ from the audit log".into());
        }
        let token = Digest::of(self.token_digest(round)?.to_string().as_bytes());
        if *token_check != token {
            return damaged("the token", "its digest differs from the audit log".into());
        }
        let RoundRow { state, reason, .. } = self.round(round)?;
        let kinds = || events.iter().map(|(event, _)| &event.kind);
        if state != log.state {
            let problem =
                format!("it is `{state}`, but `{}` according to the audit log", log.state);
            return damaged("the state", problem);
        }
        if reason != log.reason {
            return damaged("the stored reason", "it differs from the audit log".into());
        }
        for (client, root) in &spec.roots {
            let path = self.folder.roots(round).join(&root.file);
            self.check_file(&format!("the root of client `{client}`"), &path, root.sha256)?;
        }
        let submissions = self.submissions(round)?;
        if log.accepted.len() != submissions.len() {
            return damaged("the submissions", "their number differs from the audit log".into());
        }
        for submission in submissions {
            let client = &submission.client;
            if !is_recorded(&submission, &events) || submission.receipt.server_key != log.server_key
            {
                let what = format!("the receipt of client `{client}`");
                return damaged(&what, "it differs from the audit log".into());
            }
            let is_for_round = |manifest: Manifest| {
                manifest.audience == spec.audience && manifest.schema_sha256 == spec.schema_sha256
            };
            if !submission.signed_manifest(roster).is_some_and(is_for_round) {
                let what = format!("the manifest of client `{client}`");
                return damaged(&what, "it is not what the client signed".into());
            }
            let what = format!("the submission of client `{client}`");
            self.check_file(&what, &self.folder.blob(submission.sha256), submission.sha256)?;
            let canonical = submission.canonical_sha256;
            self.check_file(&what, &self.folder.canonical(canonical), canonical)?;
        }
        if matches!(state, RoundState::Closed | RoundState::Solving | RoundState::Published) {
            let digest = self.submission_list(round)?.digest();
            let recorded = kinds().any(|kind| {
                matches!(kind, EventKind::Closed { submissions_sha256, .. }
                    if *submissions_sha256 == digest)
            });
            if !recorded {
                return damaged("the submission list", "its digest differs".into());
            }
        }
        for (name, digest) in self.artefacts(round)? {
            self.check_file(&name, &self.folder.published(round).join(&name), digest)?;
        }
        Ok(())
    }

    pub(crate) fn check_file(
        &self,
        what: &str,
        path: &Path,
        expected: Digest,
    ) -> Result<(), StoreError> {
        let problem = match path.exists() {
            false => "the file is missing".into(),
            true => match digest_of_file(path)? {
                found if found == expected => return Ok(()),
                found => format!("its SHA-256 is {found}, not {expected}"),
            },
        };
        Err(StoreError::Damaged { what: format!("{what} ({})", path.display()), problem })
    }

    /// Removes files of uploads that were running when the process ended. Their clients send them again.
    fn remove_interrupted_uploads(&self, folder: &str) -> Result<(), StoreError> {
        let folder = self.folder.path().join(folder);
        for entry in std::fs::read_dir(&folder).map_err(StoreError::file(&folder))? {
            let path = entry.map_err(StoreError::file(&folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                std::fs::remove_dir_all(&path).map_err(StoreError::file(&path))?;
            } else if name.ends_with(".part") || name.starts_with('.') {
                std::fs::remove_file(&path).map_err(StoreError::file(&path))?;
            }
        }
        Ok(())
    }

    /// Removes content-addressed files that no submission refers to, because the process ended before the commit.
    fn remove_orphans(&self) -> Result<(), StoreError> {
        let mut referenced = BTreeSet::new();
        for round in self.rounds()? {
            for submission in self.submissions(&round)? {
                referenced.insert(self.folder.blob(submission.sha256));
                referenced.insert(self.folder.canonical(submission.canonical_sha256));
            }
        }
        for folder in ["sha256", "canonical"].map(|name| self.folder.path().join(name)) {
            for entry in std::fs::read_dir(&folder).map_err(StoreError::file(&folder))? {
                let path = entry.map_err(StoreError::file(&folder))?.path();
                if !referenced.contains(&path) && is_named_by_digest(&path) {
                    std::fs::remove_file(&path).map_err(StoreError::file(&path))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether the file may have been written by the server. Other files are left alone.
fn is_named_by_digest(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(".parquet").unwrap_or(name).parse::<Digest>().is_ok()
}

/// Whether the receipt is signed and agrees with the manifest and the audit log.
fn is_recorded(submission: &ListedSubmission, events: &Events) -> bool {
    let receipt = &submission.receipt.receipt;
    let event = events.get((receipt.seq as usize).wrapping_sub(1));
    event.is_some_and(|(event, digest)| receipt.is_for(event, *digest))
        && submission.receipt.has_valid_signature()
        && submission.is_consistent()
}
