//! Names of rounds and clients: they stand in addresses, file names and log lines as they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name.
const LONGEST: usize = 64;

/// The name of a round or of a client: letters, digits, `-`, `_` and `.`, beginning with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Name(String);

/// Text that is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is no name: 1 to {LONGEST} letters (a to z), digits, `-`, `_` and `.` are needed, a letter or digit first"
)]
pub struct NameProblem {
    /// The text, its beginning if it is long.
    pub found: String,
}

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameProblem;

    fn from_str(text: &str) -> Result<Self, NameProblem> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let sound = text.len() <= LONGEST
            && text.bytes().all(allowed)
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        match sound {
            true => Ok(Self(text.to_owned())),
            false => Err(NameProblem { found: text.chars().take(LONGEST).collect() }),
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameProblem;

    fn try_from(text: String) -> Result<Self, NameProblem> {
        text.parse()
    }
}
