//! Names of rounds and clients. They appear unescaped in URLs, file names and log lines.

use std::fmt;
use std::str::FromStr;

const MAX_LENGTH: usize = 64;

/// The name of a round or a client: letters, digits, `-`, `_` and `.`, starting with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Name(String);

/// Text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid name: use 1 to {MAX_LENGTH} letters (A to Z, a to z), digits, `-`, `_` and `.`, starting with a letter or digit"
)]
pub struct NameError(String);

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let valid = text.len() <= MAX_LENGTH
            && text.bytes().all(allowed)
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        match valid {
            true => Ok(Self(text.to_owned())),
            false => Err(NameError(text.chars().take(MAX_LENGTH).collect())),
        }
    }
}

/// A name of one kind, so that a round cannot be mistaken for a client.
macro_rules! id {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(Name);

        impl $id {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $id {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                text.parse().map(Self)
            }
        }

        equipoise_data::serde_as_text!($id);
    };
}

id! {
    /// The name of a round.
    RoundId
}
id! {
    /// The name of a client, or of the owner of a key.
    ClientId
}
