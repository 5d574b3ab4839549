//! Small forms that a browser posts.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, to_bytes};

use super::reply::Answer;
use crate::protocol::Refusal;

/// No form of ours is longer.
const MAX_BYTES: usize = 4096;
const PATIENCE: Duration = Duration::from_secs(10);

/// Fields by name.
pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads a form, as `application/x-www-form-urlencoded` has it.
    pub(super) async fn read(body: Body) -> Answer<Self> {
        let bad = || Refusal::BadRequest { what: "the form cannot be read".into() };
        let bytes = tokio::time::timeout(PATIENCE, to_bytes(body, MAX_BYTES));
        let bytes = bytes.await.map_err(|_| bad())?.map_err(|_| bad())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| bad())?;
        let fields = text.split('&').filter(|field| !field.is_empty()).map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            Some((decode(name)?, decode(value)?))
        });
        Ok(Self(fields.collect::<Option<_>>().ok_or_else(bad)?))
    }

    /// A field; empty where there is none.
    pub(super) fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit()?, digit()?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn fields_are_decoded_and_broken_ones_refused() {
        assert_eq!(decode("a+b%2Bc%c3%a9").as_deref(), Some("a b+cé"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
