//! The integrity check at startup: chains, receipts, files. Damage is reported, never repaired.

use std::io::ErrorKind;
use std::path::Path;

use super::folder::digest_of_file;
use super::query::RoundRow;
use super::{Store, StoreError, database};
use crate::protocol::{
    Digest, Event, EventKind, ListedSubmission, Manifest, PublicKey, RoundId, replay, verify_chain,
};

type Events = [(Event, Digest)];

impl Store {
    /// Checks the database, the server's keys and every round.
    pub(super) fn check_everything(&self) -> Result<(), StoreError> {
        database::check(&self.connection())?;
        if self.folder.public_key()?.trim_end() != self.key.public().to_string() {
            return Err(StoreError::Damaged {
                what: "server.pub".into(),
                problem: "it is not the public half of server.key".into(),
            });
        }
        for round in self.rounds()? {
            self.check_round(&round)?;
        }
        self.check_server_log()
    }

    /// Checks that the running server uses the same key, as far as its rounds show.
    pub(super) fn check_server_key(&self) -> Result<(), StoreError> {
        for round in self.rounds()?.iter().take(1) {
            let first = self.audit_lines(round)?.into_iter().next().unwrap_or_default();
            let event: Event = serde_json::from_str(&first)?;
            let EventKind::Created { server_key, .. } = event.kind else { continue };
            if *server_key != self.key.public() {
                return Err(other_key(round));
            }
        }
        Ok(())
    }

    fn check_round(&self, round: &RoundId) -> Result<(), StoreError> {
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
        if log.round != *round || spec.round != *round {
            return damaged("the audit log", "it belongs to another round".into());
        }
        if **server_key != self.key.public() {
            return Err(other_key(round));
        }
        if log.spec_sha256 != Digest::of(self.spec_json(round)?.as_bytes()) {
            return damaged("the specification", "its digest differs".into());
        }
        let stored = self.roster(round)?;
        if !stored.iter().map(|(key, _)| key).eq(roster)
            || !self.client_names(round)?.iter().eq(roster.iter().map(PublicKey::name))
        {
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
            if Path::new(&root.file).file_name() != Some(root.file.as_ref()) {
                return damaged("a root", format!("`{}` is not the name of a file", root.file));
            }
            let path = self.folder.roots(round).join(&root.file);
            self.check_file(&format!("the root of client `{client}`"), &path, root.sha256)?;
        }
        let submissions = self.submissions(round)?;
        if log.accepted.len() != submissions.len() {
            return damaged("the submissions", "their number differs from the audit log".into());
        }
        for submission in submissions {
            let client = &submission.client;
            if !is_recorded(&submission, &events)
                || submission.receipt.server_key != self.key.public()
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
        let recorded = kinds().rev().find_map(|kind| match kind {
            EventKind::Closed { submissions_sha256, .. } => Some(*submissions_sha256),
            _ => None,
        });
        let list = self.stored_submission_list(round)?;
        if list.map(|list| list.digest()) != recorded {
            return damaged("the submission list", "it differs from the audit log".into());
        }
        let published = kinds().rev().find_map(|kind| match kind {
            EventKind::Published { statement_sha256, .. } => Some(*statement_sha256),
            _ => None,
        });
        self.check_publication(&spec, published)
    }

    pub(crate) fn check_file(
        &self,
        what: &str,
        path: &Path,
        expected: Digest,
    ) -> Result<(), StoreError> {
        let problem = match digest_of_file(path) {
            Ok(found) if found == expected => return Ok(()),
            Ok(found) => format!("its SHA-256 is {found}, not {expected}"),
            Err(StoreError::File(_, error)) if error.kind() == ErrorKind::NotFound => {
                "the file is missing".into()
            }
            Err(error) => return Err(error),
        };
        Err(StoreError::Damaged { what: format!("{what} ({})", path.display()), problem })
    }
}

fn other_key(round: &RoundId) -> StoreError {
    StoreError::Damaged {
        what: "server.key".into(),
        problem: format!("round `{round}` was set up with another key"),
    }
}

/// Whether the receipt is signed and agrees with the manifest and the audit log.
fn is_recorded(submission: &ListedSubmission, events: &Events) -> bool {
    let receipt = &submission.receipt.receipt;
    let event = events.get((receipt.seq as usize).wrapping_sub(1));
    event.is_some_and(|(event, digest)| receipt.is_for(event, *digest))
        && submission.receipt.has_valid_signature()
        && submission.is_consistent()
}
