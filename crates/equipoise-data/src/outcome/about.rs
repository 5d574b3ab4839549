//! Which round an outcome belongs to, and who ran it.

use serde::{Deserialize, Serialize};

/// Which round an outcome belongs to, and who ran it when, as far as is known.
///
/// In a network round everything here follows from the round's specification, so that anyone can compute the same file
/// again. There is no date then: the audit log has the time of every event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Name of the round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    /// Who ran it: the name of the server, or of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_by: Option<String>,
    /// The day, such as 2026-03-31, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

impl About {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
