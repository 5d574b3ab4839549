//! Text from strangers: how it is shown, and which names are allowed.

use std::fmt;
use std::str::FromStr;

/// Characters that [`printable`] shows at most.
const MAX_SHOWN: usize = 200;

/// Foreign text as it may be shown in a terminal, a page or a log: on one line, at most 200 characters, with everything
/// that could control the terminal or reorder the line escaped. HTML is escaped by the template.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == MAX_SHOWN {
            shown.push('…');
            break;
        }
        match c {
            '\\' => shown.push(c),
            _ if is_invisible(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Control characters, and characters without a width that change how their neighbours look or in which order they
/// appear.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The name of a round or a client: 1 to 64 letters (A to Z, a to z), digits, `-`, `_` and `.`, starting with a
/// letter or digit. So it can stand in URLs, file names and log lines as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid name: use 1 to 64 letters (A to Z, a to z), digits, `-`, `_` and `.`, starting with a letter \
     or digit"
)]
pub struct NameProblem(String);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameProblem;

    fn from_str(text: &str) -> Result<Self, NameProblem> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_valid = text.len() <= 64
            && text.bytes().all(allowed)
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        match is_valid {
            true => Ok(Self(text.to_owned())),
            false => Err(NameProblem(printable(text))),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

equipoise_data::serde_as_text!(Name);

#[cfg(test)]
mod tests;
