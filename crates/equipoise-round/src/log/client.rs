//! What a log says about one client.

use std::collections::BTreeMap;

use equipoise_data::Digest;
use jiff::Timestamp;

use super::{MAX_FILES_PER_CLIENT, Refusal};
use crate::content::Exclusion;
use crate::sealed::Submission;

/// A client's part of a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Client {
    /// Digest and length of every ciphertext that it delivered.
    pub(super) files: BTreeMap<Digest, u64>,
    n_files: u64,
    /// The latest file that arrived in time.
    pub on_time: Option<Filed>,
    /// The latest file that arrived after the deadline.
    pub late: Option<Filed>,
    /// Why its key was revoked.
    pub revoked: Option<String>,
    /// Why its late file counts.
    pub accepted_late: Option<String>,
    /// Why its file does not count.
    pub excluded: Option<Exclusion>,
}

/// A file in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed {
    /// Its header.
    pub submission: Submission,
    /// Number of the event.
    pub seq: u64,
    /// When its last byte arrived, by the writer's clock.
    pub received_at: Timestamp,
}

impl Client {
    /// The file that counts, if any.
    pub fn counting(&self) -> Option<&Filed> {
        match (&self.revoked, &self.excluded, &self.accepted_late) {
            (None, None, Some(_)) => self.late.as_ref(),
            (None, None, None) => self.on_time.as_ref(),
            _ => None,
        }
    }

    /// Whether it has delivered anything and is not revoked.
    pub fn has_delivered(&self) -> bool {
        self.revoked.is_none() && self.n_files > 0
    }

    pub(super) fn is_missing(&self) -> bool {
        self.revoked.is_none() && self.on_time.is_none()
    }

    /// Whether a file may follow those delivered: the latest counts, by the client's own clock.
    pub(super) fn admits(&self, submission: &Submission) -> Result<(), Refusal> {
        let client = submission.client.clone();
        if self.revoked.is_some() {
            return Err(Refusal::Revoked(client));
        }
        if self.n_files == MAX_FILES_PER_CLIENT {
            return Err(Refusal::TooMany(client));
        }
        let sealed = [&self.on_time, &self.late].into_iter().flatten();
        match sealed.map(|filed| filed.submission.sealed_at).max() {
            Some(latest) if submission.sealed_at <= latest => {
                Err(Refusal::Older(client, submission.sealed_at, latest))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn file(&mut self, filed: Filed, is_late: bool) {
        self.n_files += 1;
        self.files.insert(filed.submission.sha256, filed.submission.length);
        match is_late {
            true => self.late = Some(filed),
            false => self.on_time = Some(filed),
        }
    }
}
