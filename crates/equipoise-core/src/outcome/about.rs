//! What an outcome is about: which round, and which of its clients sent the same rows.

use serde::{Deserialize, Serialize};

/// Which round an outcome belongs to, and who ran it when, as far as is known.
///
/// In a network round everything here follows from the round's specification, so that anyone can compute the same file
/// again. There is no date then: the audit log has the time of every event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Name of the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    /// Who ran it: the name of the server, or of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_by: Option<String>,
    /// The day, such as 2026-03-31, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// Two clients that sent some of the same rows: equal features, sensitive attribute and label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The clients, sorted.
    pub clients: [String; 2],
    /// Number of distinct rows in common.
    pub shared_rows: u64,
    /// `shared_rows` as a share of the distinct rows of the client that has fewer of them.
    pub share: f64,
    /// Whether the numbers are estimates, as they are if a client has more than 4096 distinct rows.
    pub estimated: bool,
}

impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { clients: [first, second], shared_rows, share, estimated } = self;
        let about = if *estimated { "about " } else { "" };
        write!(
            f,
            "clients `{first}` and `{second}` share {about}{shared_rows} distinct rows, {about}{:.0} % of the smaller \
             client's",
            100.0 * share
        )
    }
}
