//! A validator for the part of JSON Schema that the description uses. An unknown keyword fails the test.

use serde_json::Value;

/// Violations of a schema of this document; empty if the value is valid.
pub(crate) fn problems(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(document, schema, value, "$", &mut found);
    found
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let valid = match keyword.as_str() {
            "description" | "example" | "default" | "additionalProperties" => true,
            "$ref" => {
                let target =
                    document.pointer(&rule.as_str().unwrap()[1..]).expect("a known schema");
                check(document, target, value, at, found);
                true
            }
            "allOf" => {
                let parts = rule.as_array().unwrap();
                parts.iter().for_each(|part| check(document, part, value, at, found));
                true
            }
            "oneOf" => {
                let parts = rule.as_array().unwrap().iter();
                parts.filter(|part| problems(document, part, value).is_empty()).count() == 1
            }
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
            "minLength" => value.as_str().is_none_or(|x| x.len() as u64 >= rule.as_u64().unwrap()),
            "maxLength" => value.as_str().is_none_or(|x| x.len() as u64 <= rule.as_u64().unwrap()),
            "pattern" => value.as_str().is_none_or(|text| fits(text, rule.as_str().unwrap())),
            "required" => {
                let names = rule.as_array().unwrap().iter();
                names.filter(|name| value.get(name.as_str().unwrap()).is_none()).count() == 0
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(document, rule, item, &format!("{at}[{i}]"), found);
                }
                true
            }
            "properties" => {
                let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
                for (name, item) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => check(document, rule, item, &format!("{at}.{name}"), found),
                        None if closed => found.push(format!("{at}.{name} is not described")),
                        None => {}
                    }
                }
                true
            }
            other => panic!("unknown keyword {other}"),
        };
        if !valid {
            found.push(format!("{at}: {keyword} {rule}, found {value}"));
        }
    }
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

fn fits(text: &str, pattern: &str) -> bool {
    match pattern {
        "^[0-9a-f]{64}$" => {
            text.len() == 64
                && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        }
        "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" => {
            text.parse::<equipoise_server::protocol::ClientId>().is_ok()
        }
        other => panic!("unknown pattern {other}"),
    }
}

#[test]
fn the_validator_detects_violations() {
    let document = equipoise_server::openapi::document();
    let schema = |name: &str| document["components"]["schemas"][name].clone();
    let wrong = |name: &str, value: Value| !problems(&document, &schema(name), &value).is_empty();
    assert!(!wrong("Upload", serde_json::json!({ "offset": 0, "length": 3 })));
    assert!(wrong("Upload", serde_json::json!({ "offset": 0 })));
    assert!(wrong("Upload", serde_json::json!({ "offset": -1, "length": 3 })));
    assert!(wrong("Upload", serde_json::json!({ "offset": 0, "length": 3, "more": 1 })));
    assert!(wrong("Digest", "00".into()));
    assert!(wrong("State", "asleep".into()));
    assert!(wrong("Rounds", serde_json::json!({ "rounds": ["a/b"] })));
}
