//! The data that the pages show.

use equipoise_core::Fairness;
use equipoise_data::OutcomeFile;
use jiff::Timestamp;

use crate::protocol::{Digest, ListedSubmission, Name, RoundInfo, RoundState};

/// The public view of a round.
pub(crate) struct RoundView {
    pub(crate) info: RoundInfo,
    pub(crate) fairness: Fairness,
    pub(crate) now: Timestamp,
    /// Published files; empty before publication.
    pub(crate) files: Vec<PublishedFile>,
    pub(crate) outcome: Option<OutcomeFile>,
}

pub(crate) struct PublishedFile {
    pub(crate) name: String,
    pub(crate) sha256: Digest,
}

/// A client, as the coordinator sees it.
pub(crate) struct ClientView {
    pub(crate) client: Name,
    pub(crate) revoked_at: Option<Timestamp>,
    pub(crate) submission: Option<ListedSubmission>,
    pub(crate) accepted_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub(crate) struct RefusedUpload {
    pub(crate) client: Name,
    pub(crate) code: &'static str,
    pub(crate) at: Timestamp,
}

/// An action of the coordinator on a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    Close,
    Abort,
    Revoke(Name),
}

impl Action {
    /// The path of its confirmation page, relative to the coordinator's page.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Open => "open".into(),
            Self::Close => "close".into(),
            Self::Abort => "abort".into(),
            Self::Revoke(client) => format!("clients/{client}/revoke"),
        }
    }

    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let plain = [Self::Open, Self::Close, Self::Abort];
        plain.into_iter().find(|action| action.path() == path).or_else(|| {
            let client = path.strip_prefix("clients/")?.strip_suffix("/revoke")?;
            Some(Self::Revoke(client.parse().ok()?))
        })
    }

    /// Whether the round's state allows it.
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
    /// Identifies the content of the page. `round.js` builds the same text from an event, and reloads the page if they
    /// differ.
    pub(super) fn version(&self) -> String {
        let refused: u64 = self.info.refused.values().sum();
        format!("{}/{}/{refused}", self.info.state, self.info.n_submissions)
    }

    pub(super) fn path(&self) -> String {
        path(&self.info.round)
    }
}

pub(super) fn path(round: &Name) -> String {
    format!("/rounds/{round}")
}
