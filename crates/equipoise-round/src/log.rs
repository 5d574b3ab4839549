//! The log of a round as a state machine: which event may follow which, and under what conditions.
//!
//! ```text
//! open ─ submitted, revoked ─→ closed ─ revoked, excluded ─→ published ─→ purged
//!   └──────────────────────────────┴──→ aborted ─→ purged
//! ```
//!
//! An event is a line of JSON: its number, its time, the digest of the line before, and the signed document of
//! whoever decided it, which alone says what happens. The state is what replaying the lines gives. A round file asks
//! this machine when it is opened and before it appends, and `verify` replays a published log with it.

mod client;
mod receipt;
mod refusal;
mod rules;

use std::collections::BTreeMap;

use equipoise_data::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use client::{Client, Filed};
pub use receipt::Receipt;
pub use refusal::Refusal;
use rules::Effect;

use crate::document::{Document, malformed};
use crate::invitation::Invitation;
use crate::key::PublicKey;
use crate::order::{FileDigest, SealedDigests, Statement};
use crate::sealed::Submission;
use crate::text::Name;

/// Files that a round takes from one client, so that none can fill the disk.
pub const MAX_FILES_PER_CLIENT: u64 = 20;

/// Names in a published folder that the statement does not list.
pub const LOG_FILE: &str = "log.jsonl";
/// The statement itself.
pub const STATEMENT_FILE: &str = "statement";

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its number, from 1.
    pub seq: u64,
    /// When the writer appended it; never earlier than the one before.
    pub at: Timestamp,
    /// Digest of the line before; zeros in the first.
    pub previous: Digest,
    /// Who decided it, and what.
    pub document: Document,
}

/// How far a round has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It takes files.
    Open,
    /// It takes no more files.
    Closed,
    /// Its result is published.
    Published,
    /// It ended without a result.
    Aborted,
}

/// What a log says about its round.
#[derive(Debug, Clone)]
pub struct Log {
    /// The terms.
    pub invitation: Invitation,
    /// How far it has come.
    pub stage: Stage,
    /// Time of the last event.
    pub at: Timestamp,
    /// Every client on the roster.
    pub clients: BTreeMap<Name, Client>,
    /// Why it was aborted.
    pub aborted: Option<String>,
    /// What was published.
    pub statement: Option<(Document, Statement)>,
    /// Whether its sealed files are deleted.
    pub is_purged: bool,
    /// Number of the event that closed the round.
    pub closed_seq: Option<u64>,
    /// The first event that the coordinator writes.
    handover: Option<u64>,
    digests: Vec<Digest>,
    /// Numbers of the events of accepted headers, by the digest of the header.
    accepted: BTreeMap<Digest, u64>,
}

impl Stage {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Published => "published",
            Self::Aborted => "aborted",
        }
    }
}

impl Log {
    /// The first line of a round's log. It follows from the invitation, so the mailbox and the coordinator write the
    /// same.
    pub fn first_line(invitation: &Invitation) -> String {
        let (at, document) = (invitation.terms.issued_at, invitation.document.clone());
        line(&Event { seq: 1, at, previous: Digest::ZERO, document })
    }

    /// The state after the first line.
    pub fn begin(first: &str) -> Result<Self, Refusal> {
        let invitation = Invitation::of(parse(first)?.document)?;
        if first != Self::first_line(&invitation) {
            return Err(Refusal::Chain(
                "its first line does not follow from the invitation".into(),
            ));
        }
        let clients = invitation.terms.roster.keys().map(|name| (name.clone(), Client::default()));
        Ok(Self {
            clients: clients.collect(),
            at: invitation.terms.issued_at,
            handover: invitation.terms.mailbox.is_none().then_some(1),
            digests: vec![Digest::of(first.as_bytes())],
            invitation,
            stage: Stage::Open,
            aborted: None,
            statement: None,
            is_purged: false,
            closed_seq: None,
            accepted: BTreeMap::new(),
        })
    }

    /// Replays all lines of a log. An error names the line.
    pub fn replay<T: AsRef<str>>(lines: &[T]) -> Result<Self, Refusal> {
        let at = |n: usize| {
            move |refusal: Refusal| Refusal::Chain(format!("event {n} of the log: {refusal}"))
        };
        let (first, rest) =
            lines.split_first().ok_or_else(|| Refusal::Chain("the log is empty".into()))?;
        let mut log = Self::begin(first.as_ref()).map_err(at(1))?;
        for (n, line) in (2..).zip(rest) {
            log.apply(line.as_ref()).map_err(at(n))?;
        }
        Ok(log)
    }

    /// The line that records this document, or why it may not follow. Changes nothing.
    pub fn next_line(&self, document: Document, now: Timestamp) -> Result<String, Refusal> {
        let at = now.max(self.at);
        self.effect(&document, at)?;
        let (seq, previous) = (self.seq() + 1, self.head());
        Ok(line(&Event { seq, at, previous, document }))
    }

    /// Moves on to the next line. If it breaks a rule, nothing changes.
    pub fn apply(&mut self, line: &str) -> Result<(), Refusal> {
        let Event { seq, at, previous, document } = parse(line)?;
        if seq != self.seq() + 1 {
            return Err(Refusal::Chain(format!("its number is {seq}, not {}", self.seq() + 1)));
        }
        if previous != self.head() {
            return Err(Refusal::Chain("it does not have the digest of the event before".into()));
        }
        if at < self.at {
            return Err(Refusal::Chain(format!("its time {at} is before that of the last event")));
        }
        let effect = self.effect(&document, at)?;
        self.digests.push(Digest::of(line.as_bytes()));
        self.at = at;
        self.change(effect, document, seq);
        Ok(())
    }

    /// Number of the last event.
    pub fn seq(&self) -> u64 {
        self.digests.len() as u64
    }

    /// Digest of the last line.
    pub fn head(&self) -> Digest {
        self.digests.last().copied().unwrap_or(Digest::ZERO)
    }

    /// Digest of a line.
    pub fn digest_of(&self, seq: u64) -> Option<Digest> {
        self.digests.get(usize::try_from(seq.checked_sub(1)?).ok()?).copied()
    }

    /// Who writes this event: the mailbox up to and including the one that ends the open round, otherwise the
    /// coordinator.
    pub fn writer_of(&self, seq: u64) -> &PublicKey {
        let terms = &self.invitation.terms;
        match &terms.mailbox {
            Some(mailbox) if self.handover.is_none_or(|first| seq < first) => &mailbox.key,
            _ => &terms.coordinator,
        }
    }

    /// The event that recorded this header.
    pub fn seq_of(&self, header: &Document) -> Option<u64> {
        self.accepted.get(&header.digest()).copied()
    }

    /// The clients that count, with the file that does.
    pub fn counting(&self) -> impl Iterator<Item = (&Name, &Filed)> {
        self.clients.iter().filter_map(|(name, client)| Some((name, client.counting()?)))
    }

    /// The clients that have neither delivered in time nor been revoked.
    pub fn missing(&self) -> impl Iterator<Item = &Name> {
        self.clients.iter().filter(|(_, client)| client.is_missing()).map(|(name, _)| name)
    }

    /// The blobs that the round must have, with their lengths.
    pub fn blobs(&self) -> BTreeMap<Digest, u64> {
        let sealed = self.clients.values().flat_map(|client| &client.files);
        let sealed = sealed.filter(|_| !self.is_purged).map(|(sha256, length)| (*sha256, *length));
        let published = self.statement.iter().flat_map(|(_, statement)| statement.files.values());
        sealed.chain(published.map(|file| (file.sha256, file.length))).collect()
    }

    /// The digests that a statement must contain for the clients that count.
    pub fn sealed_digests(&self) -> BTreeMap<Name, SealedDigests> {
        let digests = |(name, filed): (&Name, &Filed)| {
            let Submission { sha256, content_sha256, .. } = filed.submission;
            (name.clone(), SealedDigests { sealed: sha256, content: content_sha256 })
        };
        self.counting().map(digests).collect()
    }

    fn change(&mut self, effect: Effect, document: Document, seq: u64) {
        match effect {
            Effect::Submitted(submission, is_late) => {
                self.accepted.insert(document.digest(), seq);
                let filed = Filed { submission: *submission, seq, received_at: self.at };
                if let Some(client) = self.clients.get_mut(&filed.submission.client) {
                    client.file(filed, is_late);
                }
            }
            Effect::Revoked(name, reason) => self.client(&name).revoked = Some(reason),
            Effect::Closed(accept_late, from_copy) => {
                for (name, reason) in accept_late {
                    self.client(&name).accepted_late = Some(reason);
                }
                self.end_open(Stage::Closed, seq, from_copy);
                self.closed_seq = Some(seq);
            }
            Effect::Excluded(name, exclusion) => self.client(&name).excluded = Some(exclusion),
            Effect::Aborted(reason) => {
                self.aborted = Some(reason);
                self.end_open(Stage::Aborted, seq, false);
            }
            Effect::Published(statement) => {
                self.statement = Some((document, *statement));
                self.stage = Stage::Published;
            }
            Effect::Purged => self.is_purged = true,
        }
    }

    fn end_open(&mut self, stage: Stage, seq: u64, from_copy: bool) {
        self.stage = stage;
        self.handover.get_or_insert(seq + u64::from(!from_copy));
    }

    /// A client that the checks have found.
    fn client(&mut self, name: &Name) -> &mut Client {
        self.clients.entry(name.clone()).or_default()
    }

    /// The published file of this name.
    pub fn published(&self, name: &str) -> Option<FileDigest> {
        self.statement.as_ref()?.1.files.get(name).copied()
    }
}

fn line(event: &Event) -> String {
    // Numbers and text.
    serde_json::to_string(event).expect("an event is plain data")
}

fn parse(line: &str) -> Result<Event, Refusal> {
    if line.contains('\n') {
        return Err(Refusal::Chain("it has more than one line".into()));
    }
    serde_json::from_str(line).map_err(|error| malformed("it", &error))
}
