//! Fork detection: whether two documents of one server can belong to the same history.
//!
//! A server with one key must show everyone the same logs. Two signed documents that cannot belong to the same log prove
//! that it did not. Documents that agree prove nothing about what other people were shown.

mod evidence;
mod history;

use std::collections::BTreeMap;

pub use evidence::Evidence;
use history::{History, HistoryId, Relation};

/// The result of a comparison of A and B.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Both show the same history.
    Same,
    /// The history of A is the beginning of B's.
    AIsBeginningOfB,
    /// The history of B is the beginning of A's.
    BIsBeginningOfA,
    /// They agree as far as both go: A continues in one log, B in another.
    Consistent,
    /// They contradict each other.
    Fork(Box<Fork>),
    /// No log contradicts another, but some that both are about cannot be compared.
    Incomplete(Incomplete),
    /// They cannot be compared, for this reason.
    NotComparable(String),
}

/// A comparison of which a part is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// The logs that agree as far as both go.
    pub agreeing: Vec<String>,
    /// The logs that cannot be compared, each with the reason.
    pub not_compared: Vec<String>,
}

/// Two histories that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The log: "round `spring`" or "the server-wide log".
    pub log: String,
    /// Number of the first event or line that is known to differ.
    pub position: u64,
    /// Whether everything before it is known to be equal.
    pub is_first: bool,
    /// What A shows there, in words.
    pub a: String,
    /// What B shows there, in words.
    pub b: String,
    /// The signed files that prove the contradiction. Empty if one side is not signed.
    pub proof: Vec<String>,
}

/// What to do about logs that cannot be compared.
pub const NEEDED: &str =
    "A log that covers both is needed, such as the one that `equipoise head` fetches";

/// Compares two documents, or collections of documents.
pub fn compare(a: &Evidence, b: &Evidence) -> Comparison {
    if let (Some(key_a), Some(key_b)) = (&a.server_key, &b.server_key)
        && !key_a.same_key(key_b)
    {
        let problem = format!("A is from the server with the key {key_a}, B from {key_b}");
        return Comparison::NotComparable(problem);
    }
    let mut forks = Vec::new();
    let (mut relations, mut agreeing, mut not_compared) = (Vec::new(), Vec::new(), Vec::new());
    for (id, history_a, history_b) in common(&a.histories, &b.histories) {
        match history_a.compare(history_b, id) {
            Relation::Fork(fork) => forks.push((id, fork)),
            Relation::Unknown(reason) => not_compared.push(format!("{id} ({reason})")),
            Relation::Ordered(order) => {
                relations.push(order);
                agreeing.push(id.to_string());
            }
        }
    }
    // A fork of a round can be described in words; the server-wide log only has digests.
    let preference = |(id, fork): &(&HistoryId, Fork)| {
        (!fork.is_first, matches!(id, HistoryId::Server), fork.position)
    };
    if let Some((_, fork)) = forks.into_iter().min_by_key(preference) {
        return Comparison::Fork(Box::new(fork));
    }
    match (agreeing.is_empty(), not_compared.is_empty()) {
        (false, true) => {}
        (true, true) => {
            let problem = format!("A is about {}, B about {}", a.subject(), b.subject());
            return Comparison::NotComparable(problem);
        }
        (true, false) => {
            return Comparison::NotComparable(format!("{}. {NEEDED}", not_compared.join(", ")));
        }
        (false, false) => return Comparison::Incomplete(Incomplete { agreeing, not_compared }),
    }
    let (a_is_shorter, b_is_shorter) =
        (relations.iter().any(|o| o.is_lt()), relations.iter().any(|o| o.is_gt()));
    match (a_is_shorter, b_is_shorter) {
        (false, false) => Comparison::Same,
        (true, false) => Comparison::AIsBeginningOfB,
        (false, true) => Comparison::BIsBeginningOfA,
        (true, true) => Comparison::Consistent,
    }
}

type Histories = BTreeMap<HistoryId, History>;

fn common<'a>(
    a: &'a Histories,
    b: &'a Histories,
) -> impl Iterator<Item = (&'a HistoryId, &'a History, &'a History)> {
    a.iter().filter_map(|(id, history)| Some((id, history, b.get(id)?)))
}
