//! What is checked before anything is served: chain, receipts, files. What is damaged is not repaired.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use super::folder::digest_of_file;
use super::query::RoundRow;
use super::{Store, StoreError};
use crate::protocol::{
    Digest, Event, EventKind, Manifest, Name, PublicKey, RoundState, verify_chain,
};

impl Store {
    /// Checks every round; then removes what uploads left behind.
    pub(super) fn check_everything(&self) -> Result<(), StoreError> {
        for round in self.rounds()? {
            self.check_round(&round)?;
        }
        for folder in ["uploads", "canonical"] {
            self.remove_leftovers(folder)?;
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
            Err(problem) => return damaged("the audit log", problem.to_string()),
        };
        let Some(EventKind::Created { spec_sha256, server_key, roster, token_check, .. }) =
            events.first().map(|(event, _)| &event.kind)
        else {
            return damaged("the audit log", "it does not begin with the set-up".into());
        };
        if *spec_sha256 != Digest::of(spec.to_json().as_bytes()) {
            return damaged("the description", "its digest is another one".into());
        }
        if !server_key.same_key(&self.key.public()) {
            return damaged("server.key", "the round was set up with another key".into());
        }
        let (stored, revoked): (Vec<PublicKey>, Vec<Option<String>>) =
            self.roster(round)?.into_iter().unzip();
        if stored != *roster {
            return damaged("the roster", "it is not the one of the audit log".into());
        }
        let as_told = |(key, at): (&PublicKey, &Option<String>)| {
            same_time(at.as_deref(), revocation_told_by(&events, key.name()), token_check.is_some())
        };
        if !stored.iter().zip(&revoked).all(as_told) {
            return damaged("the roster", "it has other revoked keys than the audit log".into());
        }
        let token = Digest::of(self.token_digest(round)?.to_string().as_bytes());
        if token_check.is_some_and(|told| told != token) {
            return damaged("the token", "its digest is not the one of the audit log".into());
        }
        let RoundRow { state, reason, .. } = self.round(round)?;
        if state != state_told_by(events.iter().map(|(event, _)| &event.kind)) {
            return damaged(
                "the state",
                format!("it is `{state}`, which the audit log does not tell"),
            );
        }
        if reason.as_deref() != reason_told_by(&events) {
            return damaged("the reason", "it is not the one of the audit log".into());
        }
        for (client, root) in &spec.roots {
            let path = self.folder.roots(round).join(&root.file);
            self.check_file(&format!("the root of client `{client}`"), &path, root.sha256)?;
        }
        let submissions = self.submissions(round)?;
        let accepted = events.iter().filter(|(e, _)| matches!(e.kind, EventKind::Accepted { .. }));
        if accepted.count() != submissions.len() {
            return damaged("the submissions", "the audit log has another number of them".into());
        }
        for submission in submissions {
            let receipt = &submission.receipt;
            let told = events.get((receipt.receipt.seq as usize).wrapping_sub(1));
            let matches = told.is_some_and(|(event, digest)| {
                *digest == receipt.receipt.chain_head
                    && event.kind
                        == EventKind::Accepted {
                            client: submission.client.clone(),
                            sha256: submission.sha256,
                            canonical_sha256: submission.canonical_sha256,
                            rows: receipt.receipt.rows,
                            distinct_rows: receipt.receipt.distinct_rows,
                        }
            });
            if !receipt.is_sound() || !matches || !submission.clone().listed(None).agrees() {
                return damaged(
                    "a receipt",
                    format!("that of client `{}` does not fit the audit log", submission.client),
                );
            }
            let key = roster.iter().find(|key| *key.name() == submission.client);
            let manifest = Manifest::from_bytes(submission.manifest.as_bytes());
            let signed = key.zip(manifest.ok()).is_some_and(|(key, manifest)| {
                manifest.is_signed_by(key, &submission.signature)
                    && manifest.audience == spec.audience
                    && manifest.schema_sha256 == spec.schema_sha256
            });
            if !signed {
                return damaged(
                    "a manifest",
                    format!("that of client `{}` is not what it signed", submission.client),
                );
            }
            let what = format!("what client `{}` sent", submission.client);
            self.check_file(&what, &self.folder.blob(submission.sha256), submission.sha256)?;
            let canonical = submission.canonical_sha256;
            self.check_file(&what, &self.folder.canonical(canonical), canonical)?;
        }
        if matches!(state, RoundState::Closed | RoundState::Solving | RoundState::Published) {
            let digest = self.submission_list(round)?.digest();
            let told = events.iter().any(|(event, _)| {
                matches!(&event.kind, EventKind::Closed { submissions_sha256, .. }
                    if *submissions_sha256 == digest)
            });
            if !told {
                return damaged("the list of submissions", "its digest is another one".into());
            }
        }
        for (name, digest) in self.artefacts(round)? {
            self.check_file(&name, &self.folder.published(round).join(&name), digest)?;
        }
        Ok(())
    }

    fn check_file(&self, what: &str, path: &Path, expected: Digest) -> Result<(), StoreError> {
        if !path.exists() {
            return Err(StoreError::Damaged {
                what: format!("{what} ({})", path.display()),
                problem: "it is not there".into(),
            });
        }
        let found = digest_of_file(path)?;
        match found == expected {
            true => Ok(()),
            false => Err(StoreError::Damaged {
                what: format!("{what} ({})", path.display()),
                problem: format!("its SHA-256 is {found}, not {expected}"),
            }),
        }
    }

    /// Files on their way when the process ended: whoever sent them sends them again.
    fn remove_leftovers(&self, folder: &str) -> Result<(), StoreError> {
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

    /// Files under their digests that no submission speaks of: their process ended before the row was
    /// committed.
    fn remove_orphans(&self) -> Result<(), StoreError> {
        let mut wanted = BTreeSet::new();
        for round in self.rounds()? {
            for submission in self.submissions(&round)? {
                wanted.insert(self.folder.blob(submission.sha256));
                wanted.insert(self.folder.canonical(submission.canonical_sha256));
            }
        }
        for folder in ["sha256", "canonical"].map(|name| self.folder.path().join(name)) {
            for entry in std::fs::read_dir(&folder).map_err(StoreError::file(&folder))? {
                let path = entry.map_err(StoreError::file(&folder))?.path();
                if !wanted.contains(&path) && is_named_by_digest(&path) {
                    std::fs::remove_file(&path).map_err(StoreError::file(&path))?;
                }
            }
        }
        Ok(())
    }
}

/// Nothing else is ours to remove.
fn is_named_by_digest(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(".parquet").unwrap_or(name).parse::<Digest>().is_ok()
}

/// When a client's key was revoked, as the log tells it.
fn revocation_told_by(events: &[(Event, Digest)], name: &Name) -> Option<Timestamp> {
    let is_told =
        |kind: &EventKind| matches!(kind, EventKind::KeyRevoked { client } if client == name);
    events.iter().find(|(event, _)| is_told(&event.kind)).map(|(event, _)| event.at)
}

/// Whether a stored time is the one told. Earlier versions took the clock's time twice, first for the row: theirs is a little
/// earlier.
fn same_time(stored: Option<&str>, told: Option<Timestamp>, exact: bool) -> bool {
    let (Some(stored), Some(told)) = (stored, told) else {
        return stored.is_none() && told.is_none();
    };
    let a_little = |stored: Timestamp| {
        let later = told.duration_since(stored);
        !later.is_negative() && later.as_secs() <= 60
    };
    stored == told.to_string() || !exact && stored.parse().is_ok_and(a_little)
}

/// Why the round ended without a model, as the log tells it.
fn reason_told_by(events: &[(Event, Digest)]) -> Option<&str> {
    events.iter().rev().find_map(|(event, _)| match &event.kind {
        EventKind::Failed { reason } | EventKind::Aborted { reason } => Some(reason.as_str()),
        _ => None,
    })
}

/// The state that a log leads to.
fn state_told_by<'a>(events: impl Iterator<Item = &'a EventKind>) -> RoundState {
    events.fold(RoundState::Draft, |state, event| match event {
        EventKind::Created { .. } => RoundState::Draft,
        EventKind::Opened => RoundState::Open,
        EventKind::Accepted { .. } | EventKind::KeyRevoked { .. } => state,
        EventKind::Closed { .. } => RoundState::Closed,
        EventKind::Solving => RoundState::Solving,
        EventKind::Published { .. } => RoundState::Published,
        EventKind::Failed { .. } => RoundState::Failed,
        EventKind::Aborted { .. } => RoundState::Aborted,
    })
}
