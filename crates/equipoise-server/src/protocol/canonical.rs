//! The byte form that is signed: a line with the kind, then one `name value` line per field.
//!
//! Values contain no control characters, so a value cannot forge a line break. [`parse`] accepts exactly what
//! [`encode`] produces, so every document has one spelling.

/// Bytes that are not a canonical document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CanonicalError(String);

/// Encodes a document. Control characters, which no validated value contains, become spaces.
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

/// Parses a document of this kind with exactly these fields, and returns their values.
pub fn parse<const N: usize>(
    bytes: &[u8],
    kind: &'static str,
    names: [&'static str; N],
) -> Result<[String; N], CanonicalError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| CanonicalError("it is not UTF-8 text".into()))?;
    let stray = || {
        CanonicalError("it contains a control character, has no final line feed, or goes on after the last field".into())
    };
    let text = text.strip_suffix('\n').ok_or_else(stray)?;
    let mut lines = text.split('\n');
    if lines.next() != Some(kind) {
        return Err(CanonicalError(format!("its first line is not `{kind}`")));
    }
    let mut values: [String; N] = std::array::from_fn(|_| String::new());
    for (i, name) in names.into_iter().enumerate() {
        let value = lines
            .next()
            .and_then(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .ok_or_else(|| CanonicalError(format!("line {} is not `{name} …`", i + 2)))?;
        if value.chars().any(char::is_control) {
            return Err(stray());
        }
        values[i] = value.to_owned();
    }
    match lines.next() {
        None => Ok(values),
        Some(_) => Err(stray()),
    }
}

/// The bytes that a signature covers: a prefix for the kind, then the document.
pub(super) fn signed_bytes(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut message = format!("equipoise signature over {kind}\0").into_bytes();
    message.extend_from_slice(bytes);
    message
}
