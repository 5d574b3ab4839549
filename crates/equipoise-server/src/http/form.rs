//! Form data from a browser.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::{Body, to_bytes};

use super::reply::Answer;
use crate::protocol::Refusal;

/// The server's own forms are shorter.
const MAX_BYTES: usize = 4096;
const READ_TIMEOUT: Duration = Duration::from_secs(3);

pub(super) struct Form(BTreeMap<String, String>);

impl Form {
    /// Reads an `application/x-www-form-urlencoded` body.
    pub(super) async fn read(body: Body) -> Answer<Self> {
        let bad = || Refusal::BadRequest("invalid form data".into());
        let bytes = tokio::time::timeout(READ_TIMEOUT, to_bytes(body, MAX_BYTES));
        let bytes = bytes.await.map_err(|_| bad())?.map_err(|_| bad())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| bad())?;
        let fields = text.split('&').filter(|field| !field.is_empty()).map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            Some((decode(name)?, decode(value)?))
        });
        Ok(Self(fields.collect::<Option<_>>().ok_or_else(bad)?))
    }

    /// The value of a field; empty if it is missing.
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
    fn decodes_fields_and_rejects_malformed_ones() {
        assert_eq!(decode("a+b%2Bc%c3%a9").as_deref(), Some("a b+cé"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
