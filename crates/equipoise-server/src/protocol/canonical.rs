//! The byte form that is signed: a line with the kind, then one `name value` line per field.
//!
//! Values hold no control characters, so that a line ends where it seems to. [`parse`] accepts exactly what
//! [`encode`] gives: there is one spelling of each document.

/// Why bytes are no canonical document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalProblem {
    /// Not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// Another kind or version of document.
    #[error("its first line is not `{expected}`")]
    Kind {
        /// The line that is needed.
        expected: &'static str,
    },
    /// Fields are missing, are out of place or too many.
    #[error("line {line} is not `{expected} …`")]
    Field {
        /// Line, counted from 1.
        line: usize,
        /// Name of the field that belongs there.
        expected: &'static str,
    },
    /// A value holds a control character, or there is text behind the last field.
    #[error("it has characters where none belong")]
    Stray,
}

/// The lines of a document. Control characters, which no checked value has, become blanks.
pub fn encode(kind: &str, fields: &[(&str, String)]) -> Vec<u8> {
    let mut text = format!("{kind}\n");
    for (name, value) in fields {
        text.push_str(name);
        text.push(' ');
        text.extend(value.chars().map(|c| if c.is_control() { ' ' } else { c }));
        text.push('\n');
    }
    text.into_bytes()
}

/// The values of a document of this kind with exactly these fields.
pub fn parse<const N: usize>(
    bytes: &[u8],
    kind: &'static str,
    names: [&'static str; N],
) -> Result<[String; N], CanonicalProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| CanonicalProblem::NotText)?;
    let text = text.strip_suffix('\n').ok_or(CanonicalProblem::Stray)?;
    let mut lines = text.split('\n');
    if lines.next() != Some(kind) {
        return Err(CanonicalProblem::Kind { expected: kind });
    }
    let mut values: [String; N] = std::array::from_fn(|_| String::new());
    for (i, name) in names.into_iter().enumerate() {
        let value = lines
            .next()
            .and_then(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .ok_or(CanonicalProblem::Field { line: i + 2, expected: name })?;
        if value.chars().any(char::is_control) {
            return Err(CanonicalProblem::Stray);
        }
        values[i] = value.to_owned();
    }
    match lines.next() {
        None => Ok(values),
        Some(_) => Err(CanonicalProblem::Stray),
    }
}

/// What a signature is made over: a prefix for the kind, then the document.
pub(super) fn to_sign(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut message = format!("equipoise signature over {kind}\0").into_bytes();
    message.extend_from_slice(bytes);
    message
}
