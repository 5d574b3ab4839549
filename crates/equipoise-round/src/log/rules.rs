//! The rules: whether a document may follow, and what it changes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Client, LOG_FILE, Log, Refusal, STATEMENT_FILE, Stage};
use crate::content::Exclusion;
use crate::document::{Document, Kind};
use crate::invitation::Invitation;
use crate::order::{Order, Statement};
use crate::sealed::Submission;
use crate::text::Name;

/// What an event changes, after all checks.
pub(super) enum Effect {
    Submitted(Box<Submission>, bool),
    Revoked(Name, String),
    Closed(BTreeMap<Name, String>, bool),
    Excluded(Name, Exclusion),
    Aborted(String),
    Published(Box<Statement>),
    Purged,
}

impl Log {
    /// Whether this header could be accepted now, before its body has arrived.
    pub fn admits(&self, submission: &Submission) -> Result<(), Refusal> {
        self.require(self.stage == Stage::Open, "submitting a file")?;
        let name = &submission.client;
        let client = self.clients.get(name).ok_or_else(|| Refusal::NotOnRoster(name.clone()))?;
        client.admits(submission)
    }

    pub(super) fn effect(&self, document: &Document, at: Timestamp) -> Result<Effect, Refusal> {
        let Invitation { digest, terms, .. } = &self.invitation;
        match document.kind() {
            Kind::Submission => {
                let submission = Submission::of(document.clone(), &self.invitation)?;
                self.admits(&submission)?;
                Ok(Effect::Submitted(Box::new(submission), at > terms.deadline))
            }
            Kind::Order => {
                self.ordered(document.read(Kind::Order, *digest, &terms.coordinator)?, at)
            }
            Kind::Statement => {
                let statement = document.read(Kind::Statement, *digest, &terms.coordinator)?;
                self.check_statement(&statement)?;
                Ok(Effect::Published(Box::new(statement)))
            }
            other => Err(Refusal::OtherKind("order", other.name())),
        }
    }

    fn ordered(&self, order: Order, at: Timestamp) -> Result<Effect, Refusal> {
        let is_running = matches!(self.stage, Stage::Open | Stage::Closed);
        match order {
            Order::Revoke { client, reason } => {
                self.require(is_running, "revoking a client")?;
                check_reason(&reason)?;
                let known = self.clients.get(&client);
                match known.ok_or_else(|| Refusal::NotOnRoster(client.clone()))?.revoked {
                    Some(_) => Err(Refusal::Revoked(client)),
                    None => Ok(Effect::Revoked(client, reason)),
                }
            }
            Order::Close { accept_late, from_copy } => {
                self.require(self.stage == Stage::Open, "closing")?;
                self.check_close(&accept_late, at)?;
                Ok(Effect::Closed(accept_late, from_copy))
            }
            Order::Exclude { client, exclusion } => {
                self.require(self.stage == Stage::Closed, "excluding a client")?;
                match self.clients.get(&client).and_then(Client::counting) {
                    Some(_) => Ok(Effect::Excluded(client, exclusion)),
                    None => Err(Refusal::NotCounting(client)),
                }
            }
            Order::Abort { reason } => {
                self.require(is_running, "aborting")?;
                check_reason(&reason)?;
                Ok(Effect::Aborted(reason))
            }
            Order::Purge {} => {
                self.require(!is_running && !self.is_purged, "purging")?;
                Ok(Effect::Purged)
            }
        }
    }

    fn require(&self, is_possible: bool, event: &'static str) -> Result<(), Refusal> {
        let state = if self.is_purged { "purged" } else { self.stage.name() };
        is_possible.then_some(()).ok_or(Refusal::NotPossible(event, state))
    }

    fn check_close(
        &self,
        accept_late: &BTreeMap<Name, String>,
        at: Timestamp,
    ) -> Result<(), Refusal> {
        for (name, reason) in accept_late {
            check_reason(reason)?;
            let client = self.clients.get(name).filter(|client| client.revoked.is_none());
            if client.is_none_or(|client| client.late.is_none()) {
                return Err(Refusal::NotLate(name.clone()));
            }
        }
        let deadline = self.invitation.terms.deadline;
        let missing: Vec<&str> = self.missing().map(Name::as_str).collect();
        if at < deadline && !missing.is_empty() {
            return Err(Refusal::TooEarly(deadline, missing.join(", ")));
        }
        let is_counting = |(name, client): &(&Name, &Client)| {
            client.counting().is_some() || accept_late.contains_key(*name)
        };
        self.check_minimum(self.clients.iter().filter(is_counting).count())
    }

    fn check_minimum(&self, found: usize) -> Result<(), Refusal> {
        let (found, minimum) = (found as u64, self.invitation.terms.minimum);
        if found < minimum { Err(Refusal::TooFew(found, minimum)) } else { Ok(()) }
    }

    fn check_statement(&self, statement: &Statement) -> Result<(), Refusal> {
        self.require(self.stage == Stage::Closed, "publishing")?;
        self.check_minimum(self.counting().count())?;
        let wrong = |problem: &str| Err(Refusal::Statement(problem.to_owned()));
        if statement.head != self.head() {
            return wrong("it continues another log");
        }
        if Some(self.check_receipt(&statement.closed)?.seq) != self.closed_seq {
            return wrong("its receipt is not of the event that closed the round");
        }
        if statement.submissions != self.sealed_digests() {
            return wrong("it does not list exactly the files that count");
        }
        let is_reserved = |name: &String| {
            name.parse::<Name>().is_err() || [LOG_FILE, STATEMENT_FILE].contains(&name.as_str())
        };
        match statement.files.keys().any(is_reserved) {
            true => wrong("it lists a file with a name that is not allowed"),
            false => Ok(()),
        }
    }
}

fn check_reason(reason: &str) -> Result<(), Refusal> {
    (1..=200).contains(&reason.trim().chars().count()).then_some(()).ok_or(Refusal::Reason)
}
