//! A round's audit log as a state machine: which event may follow which, and under what conditions.
//!
//! ```text
//! created → opened → closed → solving → published
//! ```
//!
//! Submissions are accepted while the round is open, and keys are revoked before it closes. A round that is not final
//! can be aborted. It fails at the deadline if there are too few submissions, or later if it cannot be solved.
//!
//! The store checks every event against these rules before it appends it. The startup check and `verify` replay the
//! whole log.

mod problem;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::event::{CloseReason, Event, EventKind};
use super::name::{ClientId, RoundId};
use super::round_info::RoundState;
use super::spec::RoundSpec;
use super::{Digest, PublicKey};

pub use problem::{LogError, LogProblem};

/// What a log says about its round, after some number of events.
#[derive(Debug, Clone, PartialEq)]
pub struct LogState {
    /// The round.
    pub round: RoundId,
    /// The state after the last event.
    pub state: RoundState,
    /// Number of the last event.
    pub seq: u64,
    /// Time of the last event.
    pub at: Timestamp,
    /// Digest of the round's specification.
    pub spec_sha256: Digest,
    /// The server's key.
    pub server_key: PublicKey,
    /// The clients' keys.
    pub roster: Vec<PublicKey>,
    /// When the round opened.
    pub opened_at: Option<Timestamp>,
    /// The accepted submissions: the number of the event, by client.
    pub accepted: BTreeMap<ClientId, u64>,
    /// When keys were revoked, by client.
    pub revoked: BTreeMap<ClientId, Timestamp>,
    /// Why the round failed or was aborted.
    pub reason: Option<String>,
    terms: Option<Terms>,
}

/// The part of the specification that restricts events.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Terms {
    deadline: Option<Timestamp>,
    minimum: u64,
}

/// Checks the order, the times and the content of all events of a log. The digests that link them are checked by
/// [`verify_chain`](super::verify_chain). Without the specification, the deadline and the minimum number of
/// submissions are not checked. That it has the digest in the first event is for the caller to check, on the stored text.
pub fn replay<'a>(
    events: impl IntoIterator<Item = &'a Event>,
    spec: Option<&RoundSpec>,
) -> Result<LogState, LogError> {
    let mut events = events.into_iter();
    let first = events.next().ok_or(LogError { seq: 1, problem: LogProblem::Missing })?;
    let mut log = LogState::begin(first, spec)?;
    for event in events {
        log.apply(event)?;
    }
    Ok(log)
}

impl LogState {
    /// The state after the first event, which must create the round.
    pub fn begin(event: &Event, spec: Option<&RoundSpec>) -> Result<Self, LogError> {
        let wrong = |problem| Err(LogError { seq: 1, problem });
        if event.seq != 1 {
            return wrong(LogProblem::Number(event.seq));
        }
        let EventKind::Created { spec_sha256, schema_sha256, server_key, roster, .. } = &event.kind
        else {
            return wrong(LogProblem::NotCreated(event.kind.name()));
        };
        let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
        let mut is_new =
            |key: &PublicKey| names.insert(key.name().clone()) & keys.insert(key.to_base64());
        if let Some(key) = roster.iter().find(|key| !is_new(key)) {
            return wrong(LogProblem::ListedTwice(key.name().clone()));
        }
        if let Some(spec) = spec {
            if *schema_sha256 != spec.schema_sha256 {
                return wrong(LogProblem::OtherSpec("schema"));
            }
            if event.round != spec.round {
                return wrong(LogProblem::Round(event.round.clone()));
            }
        }
        Ok(Self {
            round: event.round.clone(),
            state: RoundState::Draft,
            seq: 1,
            at: event.at,
            spec_sha256: *spec_sha256,
            server_key: (**server_key).clone(),
            roster: roster.clone(),
            opened_at: None,
            accepted: BTreeMap::new(),
            revoked: BTreeMap::new(),
            reason: None,
            terms: spec.map(|spec| Terms { deadline: spec.deadline, minimum: spec.minimum }),
        })
    }

    /// Moves on to the next event. If it breaks a rule, the state stays as it was.
    pub fn apply(&mut self, event: &Event) -> Result<(), LogError> {
        let seq = self.seq + 1;
        self.check(event, seq).map_err(|problem| LogError { seq, problem })?;
        match &event.kind {
            EventKind::Opened => self.opened_at = Some(event.at),
            EventKind::Accepted { client, .. } => {
                self.accepted.insert(client.clone(), seq);
            }
            EventKind::KeyRevoked { client } => {
                self.revoked.insert(client.clone(), event.at);
            }
            kind => self.reason = kind.reason().map(str::to_owned),
        }
        self.state = event.kind.state_after(self.state);
        (self.seq, self.at) = (seq, event.at);
        Ok(())
    }

    /// The clients that can still submit.
    pub fn pending(&self) -> impl Iterator<Item = &ClientId> {
        self.absent().filter(|client| !self.revoked.contains_key(client))
    }

    /// The clients that have not submitted, in the order of the roster.
    pub fn absent(&self) -> impl Iterator<Item = &ClientId> {
        self.roster.iter().map(PublicKey::name).filter(|name| !self.accepted.contains_key(name))
    }

    fn check(&self, event: &Event, seq: u64) -> Result<(), LogProblem> {
        if event.seq != seq {
            return Err(LogProblem::Number(event.seq));
        }
        if event.round != self.round {
            return Err(LogProblem::Round(event.round.clone()));
        }
        if event.at < self.at {
            return Err(LogProblem::TimeGoesBack { at: event.at, previous: self.at });
        }
        if !is_possible(&event.kind, self.state) {
            return Err(LogProblem::NotPossible { event: event.kind.name(), state: self.state });
        }
        match &event.kind {
            EventKind::Accepted { client, received_at, .. } => {
                self.check_accepted(client, *received_at, event.at)
            }
            EventKind::KeyRevoked { client } => {
                self.check_on_roster(client)?;
                match self.revoked.contains_key(client) {
                    true => Err(LogProblem::RevokedTwice(client.clone())),
                    false => Ok(()),
                }
            }
            EventKind::Closed { by, n_submissions, absent, .. } => {
                self.check_closed(*by, *n_submissions, absent, event.at)
            }
            EventKind::Failed { .. } if self.state == RoundState::Open => {
                self.check_failed_while_open(event.at)
            }
            _ => Ok(()),
        }
    }

    fn check_on_roster(&self, client: &ClientId) -> Result<(), LogProblem> {
        match self.roster.iter().any(|key| key.name() == client) {
            true => Ok(()),
            false => Err(LogProblem::NotOnRoster(client.clone())),
        }
    }

    fn check_accepted(
        &self,
        client: &ClientId,
        received_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), LogProblem> {
        self.check_on_roster(client)?;
        if self.accepted.contains_key(client) {
            return Err(LogProblem::AcceptedTwice(client.clone()));
        }
        if received_at > at {
            return Err(LogProblem::ReceivedAfterAcceptance(received_at));
        }
        if self.opened_at.is_some_and(|opened| received_at < opened) {
            return Err(LogProblem::ReceivedBeforeOpening(received_at));
        }
        if let Some(revoked_at) = self.revoked.get(client).filter(|at| **at <= received_at) {
            let (client, revoked_at) = (client.clone(), *revoked_at);
            return Err(LogProblem::ReceivedAfterRevocation { client, revoked_at });
        }
        match self.deadline().filter(|deadline| received_at >= *deadline) {
            Some(deadline) => Err(LogProblem::ReceivedLate { received_at, deadline }),
            None => Ok(()),
        }
    }

    fn check_closed(
        &self,
        by: CloseReason,
        n_submissions: u64,
        absent: &[ClientId],
        at: Timestamp,
    ) -> Result<(), LogProblem> {
        let found = self.accepted.len() as u64;
        if n_submissions != found {
            return Err(LogProblem::Count { recorded: n_submissions, found });
        }
        if !self.absent().eq(absent) {
            return Err(LogProblem::Absent(self.absent().cloned().collect()));
        }
        // No round has a minimum below 1.
        let minimum = self.terms.map_or(1, |terms| terms.minimum);
        if found < minimum {
            return Err(LogProblem::TooFew { found, minimum });
        }
        match by {
            CloseReason::Deadline if !self.deadline_has_passed(at) => {
                Err(LogProblem::BeforeDeadline(self.deadline()))
            }
            CloseReason::FullRoster if self.pending().next().is_some() => {
                Err(LogProblem::Pending(self.pending().cloned().collect()))
            }
            _ => Ok(()),
        }
    }

    /// An open round fails only at the deadline, and only with too few submissions.
    fn check_failed_while_open(&self, at: Timestamp) -> Result<(), LogProblem> {
        let found = self.accepted.len() as u64;
        if !self.deadline_has_passed(at) {
            return Err(LogProblem::BeforeDeadline(self.deadline()));
        }
        match self.terms {
            Some(terms) if found >= terms.minimum => {
                Err(LogProblem::Enough { found, minimum: terms.minimum })
            }
            _ => Ok(()),
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.terms?.deadline
    }

    /// Whether the deadline has passed. Without the specification, assumes that it has.
    fn deadline_has_passed(&self, at: Timestamp) -> bool {
        self.terms.is_none_or(|terms| terms.deadline.is_some_and(|deadline| at >= deadline))
    }
}

/// Whether an event of this kind can happen in this state.
fn is_possible(kind: &EventKind, state: RoundState) -> bool {
    use RoundState::{Closed, Draft, Open, Solving};
    match kind {
        EventKind::Created { .. } => false,
        EventKind::Opened => state == Draft,
        EventKind::Accepted { .. } | EventKind::Closed { .. } => state == Open,
        EventKind::KeyRevoked { .. } => matches!(state, Draft | Open),
        EventKind::Solving => state == Closed,
        EventKind::Published { .. } => state == Solving,
        EventKind::Failed { .. } => matches!(state, Open | Closed | Solving),
        EventKind::Aborted { .. } => !state.is_final(),
    }
}
