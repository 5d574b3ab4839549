//! How a round came to its present state.

use jiff::Timestamp;

use crate::protocol::{ClientId, CloseReason, Event, EventKind, RoundState};

/// The states of a round so far, and how it closed.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Each state with the time at which it was reached, in order. The last is the present one.
    pub(crate) states: Vec<(RoundState, Timestamp)>,
    /// Why the round closed, and who had not submitted by then.
    pub(crate) closed: Option<(CloseReason, Vec<ClientId>)>,
}

impl History {
    /// The history in the events of a log.
    pub(super) fn of(events: Vec<Event>) -> Self {
        let mut history = Self::default();
        for event in events {
            let before = history.states.last().map(|(state, _)| *state);
            let after = event.kind.state_after(before.unwrap_or(RoundState::Draft));
            if before != Some(after) {
                history.states.push((after, event.at));
            }
            if let EventKind::Closed { by, absent, .. } = event.kind {
                history.closed = Some((by, absent));
            }
        }
        history
    }

    /// When the round reached a state.
    pub(crate) fn reached(&self, state: RoundState) -> Option<Timestamp> {
        self.states.iter().find(|(reached, _)| *reached == state).map(|(_, at)| *at)
    }
}
