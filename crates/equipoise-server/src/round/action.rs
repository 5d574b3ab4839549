//! What the coordinator can do to a round.

use crate::protocol::{ClientId, RoundInfo, RoundState};

/// An action of the coordinator on a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Open,
    Close,
    /// With the reason, if one was given. Everyone can read it.
    Abort(Option<String>),
    Revoke(ClientId),
}

impl Action {
    /// Whether it makes sense to offer the action. The store decides when it is performed.
    pub(crate) fn is_possible(&self, info: &RoundInfo) -> bool {
        match self {
            Self::Open => info.state == RoundState::Draft,
            Self::Close => info.state == RoundState::Open && info.n_submissions >= info.minimum,
            Self::Abort(_) => !info.state.is_final(),
            Self::Revoke(_) => matches!(info.state, RoundState::Draft | RoundState::Open),
        }
    }
}
