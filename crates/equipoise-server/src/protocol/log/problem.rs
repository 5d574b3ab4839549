//! What can be wrong with an event of a log.

use std::fmt;

use jiff::Timestamp;

use super::super::name::{ClientId, RoundId};
use super::super::round_info::RoundState;

/// The first event of a log that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} {problem}")]
pub struct LogError {
    /// Number of the event, from 1.
    pub seq: u64,
    /// The rule that it breaks.
    pub problem: LogProblem,
}

/// What is wrong with an event. The text continues "event N …".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogProblem {
    /// The log has no events.
    Missing,
    /// The first event is of this kind, not `created`.
    NotCreated(&'static str),
    /// The event has this number.
    Number(u64),
    /// The event belongs to this round.
    Round(RoundId),
    /// The round was created with another schema.
    OtherSpec(&'static str),
    /// The roster contains this client or its key twice.
    ListedTwice(ClientId),
    /// The event is older than the one before it.
    TimeGoesBack {
        /// Time of the event.
        at: Timestamp,
        /// Time of the event before it.
        previous: Timestamp,
    },
    /// Such an event cannot happen in this state.
    NotPossible {
        /// The event.
        event: &'static str,
        /// The state before it.
        state: RoundState,
    },
    /// The client is not on the roster.
    NotOnRoster(ClientId),
    /// A submission of this client was accepted before.
    AcceptedTwice(ClientId),
    /// The submission arrived, according to this time, after it was accepted.
    ReceivedAfterAcceptance(Timestamp),
    /// The submission arrived, according to this time, before the round opened.
    ReceivedBeforeOpening(Timestamp),
    /// The submission arrived after its client's key was revoked.
    ReceivedAfterRevocation {
        /// The client.
        client: ClientId,
        /// When its key was revoked.
        revoked_at: Timestamp,
    },
    /// The submission arrived at or after the deadline.
    ReceivedLate {
        /// When it arrived.
        received_at: Timestamp,
        /// The deadline.
        deadline: Timestamp,
    },
    /// The key of this client was revoked before.
    RevokedTwice(ClientId),
    /// The number of submissions is wrong.
    Count {
        /// In the event.
        recorded: u64,
        /// Accepted before it.
        found: u64,
    },
    /// The list of absent clients is not this one.
    Absent(Vec<ClientId>),
    /// There are too few submissions to close the round.
    TooFew {
        /// Accepted.
        found: u64,
        /// Required.
        minimum: u64,
    },
    /// There are enough submissions, so the round cannot fail at the deadline.
    Enough {
        /// Accepted.
        found: u64,
        /// Required.
        minimum: u64,
    },
    /// The event ends the round at its deadline, but the deadline is later or there is none.
    BeforeDeadline(Option<Timestamp>),
    /// The event says that nobody can still submit, but these clients can.
    Pending(Vec<ClientId>),
}

impl fmt::Display for LogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "is missing: the log is empty"),
            Self::NotCreated(event) => {
                write!(f, "is `{event}`, but a log starts with the creation of its round")
            }
            Self::Number(found) => write!(f, "has the number {found}"),
            Self::Round(found) => write!(f, "belongs to another round, `{found}`"),
            Self::OtherSpec(what) => write!(f, "records the digest of another {what}"),
            Self::ListedTwice(client) => {
                write!(f, "lists client `{client}` or its key twice on the roster")
            }
            Self::TimeGoesBack { at, previous } => {
                write!(f, "is dated {at}, earlier than the event before it ({previous})")
            }
            Self::NotPossible { event, state } => {
                write!(f, "is `{event}`, which is not possible while the round is {state}")
            }
            Self::NotOnRoster(client) => {
                write!(f, "names client `{client}`, which is not on the roster")
            }
            Self::AcceptedTwice(client) => {
                write!(f, "accepts a second submission from client `{client}`")
            }
            Self::ReceivedAfterAcceptance(at) => {
                write!(f, "accepts a submission that arrived later, at {at}")
            }
            Self::ReceivedBeforeOpening(at) => {
                write!(f, "accepts a submission that arrived before the round opened, at {at}")
            }
            Self::ReceivedAfterRevocation { client, revoked_at } => write!(
                f,
                "accepts a submission that arrived after the key of client `{client}` was revoked ({revoked_at})"
            ),
            Self::ReceivedLate { received_at, deadline } => write!(
                f,
                "accepts a submission that arrived at {received_at}, but the deadline was {deadline}"
            ),
            Self::RevokedTwice(client) => {
                write!(f, "revokes the key of client `{client}` a second time")
            }
            Self::Count { recorded, found } => {
                write!(f, "closes the round with {recorded} submissions, but {found} were accepted")
            }
            Self::Absent(expected) if expected.is_empty() => {
                write!(f, "names absent clients, but every client submitted")
            }
            Self::Absent(expected) => {
                write!(f, "does not name exactly the absent clients: {}", join(expected))
            }
            Self::TooFew { found, minimum } => {
                write!(f, "closes the round with {found} submissions, but the minimum is {minimum}")
            }
            Self::Enough { found, minimum } => write!(
                f,
                "fails the open round, but it has {found} submissions and the minimum is {minimum}"
            ),
            Self::BeforeDeadline(Some(deadline)) => {
                write!(f, "ends the round at its deadline, but the deadline is {deadline}")
            }
            Self::BeforeDeadline(None) => {
                write!(f, "ends the round at its deadline, but the round has none")
            }
            Self::Pending(clients) => write!(
                f,
                "closes the round because nobody can still submit, but these clients can: {}",
                join(clients)
            ),
        }
    }
}

fn join(clients: &[ClientId]) -> String {
    clients.iter().map(ClientId::as_str).collect::<Vec<_>>().join(", ")
}
