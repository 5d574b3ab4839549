//! Rejects JSON that two parsers could read differently: an object with the same key twice.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Checks that no object has the same key twice, at any depth.
pub(super) fn check(text: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<Strict>(text).map(|_| ())
}

struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

/// Every value but an object or a list is accepted as it is.
macro_rules! accept {
    ($($method:ident($type:ty)),*) => {
        $(fn $method<E: Error>(self, _: $type) -> Result<Strict, E> {
            Ok(Strict)
        })*
    };
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    accept!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_unit<E: Error>(self) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Strict, A::Error> {
        while list.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Strict, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = object.next_key::<String>()? {
            object.next_value::<Strict>()?;
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("the key `{key}` occurs twice")));
            }
            keys.insert(key);
        }
        Ok(Strict)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::check;

    #[test]
    fn a_repeated_key_is_an_error_at_any_depth() {
        check(br#"{"a": [1, {"b": null, "c": -0.5}], "b": {"a": "a", "b": true}}"#).unwrap();
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"a": [{"b": 1, "c": 2, "b": 3}]}"#,
            r#"{"a": 1, "\u0061": 2}"#,
        ] {
            let error = check(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("occurs twice"), "{error}");
        }
        assert!(check(b"{} {}").is_err() && check(b"{").is_err());
    }
}
