//! The data that the pages show.

use std::sync::Arc;

use equipoise_core::Outcome;
use jiff::Timestamp;

use crate::protocol::{RoundId, RoundInfo, RoundSpec};
use crate::round::{Action, History, PublishedFile};

/// The public view of a round.
pub(crate) struct RoundView {
    pub(crate) info: RoundInfo,
    pub(crate) spec: Arc<RoundSpec>,
    pub(crate) history: History,
    pub(crate) now: Timestamp,
    /// Published files; empty before publication.
    pub(crate) files: Vec<PublishedFile>,
    pub(crate) outcome: Option<Outcome>,
}

impl Action {
    /// The path of its confirmation page, relative to the coordinator's page.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Open => "open".into(),
            Self::Close => "close".into(),
            Self::Abort(_) => "abort".into(),
            Self::Revoke(client) => format!("clients/{client}/revoke"),
        }
    }

    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let plain = [Self::Open, Self::Close, Self::Abort(None)];
        plain.into_iter().find(|action| action.path() == path).or_else(|| {
            let client = path.strip_prefix("clients/")?.strip_suffix("/revoke")?;
            Some(Self::Revoke(client.parse().ok()?))
        })
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

pub(super) fn path(round: &RoundId) -> String {
    format!("/rounds/{round}")
}
