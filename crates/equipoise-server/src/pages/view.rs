//! What the pages show.

use equipoise_core::Fairness;
use equipoise_data::OutcomeFile;
use jiff::Timestamp;

use crate::protocol::{Digest, Name, RoundInfo, RoundState};

/// A round, as anyone may see it.
pub(crate) struct RoundView {
    pub(crate) info: RoundInfo,
    pub(crate) fairness: Fairness,
    pub(crate) now: Timestamp,
    /// Files with their digests; empty before publishing.
    pub(crate) files: Vec<PublishedFile>,
    pub(crate) outcome: Option<OutcomeFile>,
}

/// A file that was published.
pub(crate) struct PublishedFile {
    pub(crate) name: String,
    pub(crate) sha256: Digest,
}

/// A client, as the coordinator sees it.
pub(crate) struct ClientView {
    pub(crate) client: Name,
    pub(crate) revoked_at: Option<String>,
    pub(crate) submission: Option<SubmissionView>,
}

/// What a client sent.
pub(crate) struct SubmissionView {
    pub(crate) at: Option<Timestamp>,
    pub(crate) rows: u64,
    pub(crate) distinct_rows: u64,
    pub(crate) same_table_as: Vec<Name>,
}

/// An upload that was refused to a client that had shown its key.
#[derive(Debug, Clone)]
pub(crate) struct RefusedUpload {
    pub(crate) client: Name,
    pub(crate) code: &'static str,
    pub(crate) at: Timestamp,
}

/// What the coordinator may do by a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    Close,
    Abort,
    Revoke(Name),
}

impl Action {
    /// Where its confirmation is, below the coordinator's page.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Open => "open".into(),
            Self::Close => "close".into(),
            Self::Abort => "abort".into(),
            Self::Revoke(client) => format!("clients/{client}/revoke"),
        }
    }

    /// Whether the round is in a state for it.
    pub(super) fn is_possible(&self, info: &RoundInfo) -> bool {
        match self {
            Self::Open => info.state == RoundState::Draft,
            Self::Close => info.state == RoundState::Open && info.n_submissions >= info.minimum,
            Self::Abort => !info.state.is_final(),
            Self::Revoke(_) => matches!(info.state, RoundState::Draft | RoundState::Open),
        }
    }
}

impl RoundView {
    /// The page is behind when the round says something else than this. `round.js` makes the same text
    /// of an event.
    pub(super) fn version(&self) -> String {
        let refused: u64 = self.info.refused.values().sum();
        format!("{}/{}/{refused}", self.info.state, self.info.n_submissions)
    }

    pub(super) fn address(&self) -> String {
        address(&self.info.round)
    }
}

/// Where the page of a round is.
pub(super) fn address(round: &Name) -> String {
    format!("/rounds/{round}")
}
