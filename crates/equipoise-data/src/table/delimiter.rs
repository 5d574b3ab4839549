//! What separates the cells of a CSV file.

use std::str::FromStr;

/// What separates the cells of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab character.
    Tab,
    /// `|`
    Pipe,
}

impl Delimiter {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    /// Its name, as in `--delimiter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
            Self::Pipe => "pipe",
        }
    }

    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
        }
    }
}

/// By its name or by the character itself.
impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_meant = |d: &Self| text == d.name() || text.as_bytes() == [d.byte()];
        // A shell passes '\t' on as two characters.
        let found = Self::ALL.into_iter().find(is_meant).or((text == r"\t").then_some(Self::Tab));
        found.ok_or("must be comma, semicolon, tab or pipe")
    }
}

#[cfg(test)]
mod tests {
    use super::Delimiter;

    #[test]
    fn a_delimiter_is_given_by_its_name_or_itself() {
        for (texts, delimiter) in [
            (&["comma", ","][..], Delimiter::Comma),
            (&["semicolon", ";"], Delimiter::Semicolon),
            (&["tab", "\t", r"\t"], Delimiter::Tab),
            (&["pipe", "|"], Delimiter::Pipe),
        ] {
            texts.iter().for_each(|text| assert_eq!(text.parse(), Ok(delimiter), "{text}"));
        }
        for text in ["", " ", ",,", "space", ":"] {
            assert!(text.parse::<Delimiter>().is_err(), "{text:?}");
        }
    }
}
