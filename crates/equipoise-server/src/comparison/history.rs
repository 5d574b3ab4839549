//! What is known about one log: the digests at some positions, and what follows from them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use super::Fork;
use crate::protocol::{ClientId, Digest, RoundId};

/// Which log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HistoryId {
    /// The log of a round.
    Round(RoundId),
    /// The server-wide log.
    Server,
}

impl fmt::Display for HistoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Round(round) => write!(f, "round `{round}`"),
            Self::Server => f.write_str("the server-wide log"),
        }
    }
}

/// What is known about one position of a log.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// Digest of the event or entry, which covers everything before it.
    pub(super) digest: Digest,
    /// The event or entry in words, if its content is known.
    pub(super) text: Option<String>,
    /// The files that show that the server signed this. Empty if it did not.
    pub(super) proof: Vec<String>,
}

/// What is known about one log.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// The server's name, if known. The first event of a round fixes it.
    pub(super) audience: Option<Audience>,
    /// The file with the whole log, if there is one.
    pub(super) log_file: Option<String>,
    /// What is known, by position.
    pub(super) points: BTreeMap<u64, Point>,
    /// The position at which a client's submission was accepted. A log accepts each client at most once.
    pub(super) accepted: BTreeMap<ClientId, u64>,
    /// The position of a final event, which nothing can follow.
    pub(super) end: Option<u64>,
}

/// The server's name in a signed document.
#[derive(Debug, Clone)]
pub(super) struct Audience {
    pub(super) name: String,
    /// The signed document.
    pub(super) file: String,
}

/// How A's history relates to B's.
pub(super) enum Relation {
    /// They contradict each other.
    Fork(Fork),
    /// One is the beginning of the other: `Less` if A is the beginning of B.
    Ordered(Ordering),
    /// Too little is known.
    Unknown(String),
}

impl History {
    /// Compares A (`self`) with B.
    pub(super) fn compare(&self, other: &Self, id: &HistoryId) -> Relation {
        if let (Some(a), Some(b)) = (&self.audience, &other.audience)
            && a.name != b.name
        {
            // A server has one round of a name, so one of them is about another history.
            return Relation::Fork(Fork {
                log: id.to_string(),
                position: 1,
                is_first: true,
                a: format!("event 1: created for {}", a.name),
                b: format!("event 1: created for {}", b.name),
                proof: vec![a.file.clone(), b.file.clone()],
            });
        }
        if let Some((a, b)) = self.contradiction(other) {
            let is_first = a == b && (a == 1 || self.agrees(other, a - 1));
            return Relation::Fork(Fork {
                log: id.to_string(),
                position: a.min(b),
                is_first,
                a: self.describe(a, id),
                b: other.describe(b, id),
                proof: self.proof(a, other, b),
            });
        }
        let (Some(last_a), Some(last_b)) = (self.last(), other.last()) else {
            return Relation::Unknown("one of them says nothing about it".to_owned());
        };
        match self.agrees(other, last_a.min(last_b)) {
            true => Relation::Ordered(last_a.cmp(&last_b)),
            false => Relation::Unknown(format!(
                "A ends at position {last_a} and B at {last_b}, and neither contains the log up to there"
            )),
        }
    }

    /// The positions in A and B of two things that cannot both be true.
    fn contradiction(&self, other: &Self) -> Option<(u64, u64)> {
        let differs = |(position, point): (&u64, &Point)| {
            let found = other.points.get(position)?;
            (found.digest != point.digest).then_some((*position, *position))
        };
        let accepted_twice = || {
            let mut clients = self.accepted.iter();
            clients.find_map(|(client, a)| {
                let b = other.accepted.get(client)?;
                (a != b).then_some((*a, *b))
            })
        };
        let after = |end: u64, other: &Self| other.last().filter(|last| *last > end);
        let continues = || {
            let b = self.end.and_then(|end| Some((end, after(end, other)?)));
            b.or_else(|| other.end.and_then(|end| Some((after(end, self)?, end))))
        };
        self.points.iter().find_map(differs).or_else(accepted_twice).or_else(continues)
    }

    fn agrees(&self, other: &Self, position: u64) -> bool {
        match (self.points.get(&position), other.points.get(&position)) {
            (Some(a), Some(b)) => a.digest == b.digest,
            _ => false,
        }
    }

    fn last(&self) -> Option<u64> {
        self.points.keys().next_back().copied()
    }

    fn describe(&self, position: u64, id: &HistoryId) -> String {
        let Some(point) = self.points.get(&position) else { return String::new() };
        let noun = if *id == HistoryId::Server { "line" } else { "event" };
        match &point.text {
            Some(text) => format!("{noun} {position}: {text}"),
            None => format!("{noun} {position}, with the digest {}", point.digest),
        }
    }

    /// The signed files behind both positions; empty if one of them is not signed.
    fn proof(&self, a: u64, other: &Self, b: u64) -> Vec<String> {
        let files = |history: &Self, position: u64| {
            history.points.get(&position).map_or_else(Vec::new, |point| point.proof.clone())
        };
        match (files(self, a), files(other, b)) {
            (a, b) if a.is_empty() || b.is_empty() => Vec::new(),
            (a, b) => [a, b].concat(),
        }
    }
}
