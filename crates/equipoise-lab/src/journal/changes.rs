//! What has changed between the first lines of two journals.

use serde_json::{Map, Value};

/// One clause for each difference, such as "--seeds was 5 and is now 10". `None` if `old` is not the first line of a
/// journal or nothing has changed.
pub(super) fn between(old: &str, new: &str) -> Option<Vec<String>> {
    let (old, new): (Value, Value) =
        (serde_json::from_str(old).ok()?, serde_json::from_str(new).ok()?);
    let part = |value: &Value, name: &str| value.get(name)?.as_object().cloned();
    let mut changes = differences(&part(&old, "settings")?, &part(&new, "settings")?);
    if old.get("version") != new.get("version") {
        let version = |value: &Value| value.get("version").map(show).unwrap_or_default();
        changes.push(format!("the program was version {}, now {}", version(&old), version(&new)));
    }
    let (old_rows, new_rows) = (part(&old, "rows")?, part(&new, "rows")?);
    let names = |rows: &Map<String, Value>| rows.keys().cloned().collect::<Vec<_>>().join(",");
    let (were, are) = (names(&old_rows), names(&new_rows));
    if were != are && !changes.iter().any(|change| change.starts_with("--dataset")) {
        changes.push(format!("--dataset was {were} and is now {are}"));
    }
    for (dataset, digest) in &old_rows {
        // Other preprocessing gives other rows, which needs no second mention.
        let is_mentioned = changes.iter().any(|change| change.starts_with("--preprocessing"));
        if !is_mentioned && new_rows.get(dataset).is_some_and(|other| other != digest) {
            changes.push(format!(
                "dataset {dataset} had other rows (see --data, --schema and --people)"
            ));
        }
    }
    (!changes.is_empty()).then_some(changes)
}

fn differences(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<String> {
    let added = new.keys().filter(|key| !old.contains_key(*key));
    let changed = old.keys().chain(added).filter(|key| old.get(*key) != new.get(*key));
    let shown = |value: Option<&Value>| value.map_or_else(|| "not given".to_owned(), show);
    let clause = |key: &String| {
        format!("{} was {} and is now {}", option(key), shown(old.get(key)), shown(new.get(key)))
    };
    changed.map(clause).collect()
}

/// The option that sets a field.
fn option(field: &str) -> String {
    let name = match field {
        "datasets" => "dataset",
        "scenarios" => "scenario",
        "variants" | "contenders" => "defenses",
        "n_clients" => "clients",
        "n_people" => "people",
        "distribution" => "split",
        other => other,
    };
    format!("--{}", name.replace('_', "-"))
}

/// A value as one would type it.
fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(show).collect::<Vec<_>>().join(","),
        // An enum's variant with its content, which says enough.
        Value::Object(fields) => fields.values().map(show).collect::<Vec<_>>().join(" "),
        Value::Null => "not given".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"version":"1","settings":{"seeds":5,"n_clients":5,
        "variants":[{"defense":"tilt"},"bilevel-without-penalty"]},"rows":{"csv":"aa","dutch":"bb"}}"#;

    fn changes(replaced: &str, by: &str) -> Option<Vec<String>> {
        let new = OLD.replace(replaced, by);
        between(OLD, &new)
    }

    #[test]
    fn names_the_option_with_both_values() {
        let one = |replaced, by| changes(replaced, by).map(|changes| changes.join("; "));
        let found = |text: &str| Some(text.to_owned());
        assert_eq!(one("\"seeds\":5", "\"seeds\":10"), found("--seeds was 5 and is now 10"));
        assert_eq!(
            one("\"n_clients\":5", "\"n_clients\":7"),
            found("--clients was 5 and is now 7")
        );
        assert_eq!(
            one(",\"bilevel-without-penalty\"", ""),
            found("--defenses was tilt,bilevel-without-penalty and is now tilt")
        );
        assert_eq!(
            one("\"seeds\":5", "\"seeds\":5,\"n_people\":2000"),
            found("--people was not given and is now 2000")
        );
        assert_eq!(
            one("\"version\":\"1\"", "\"version\":\"2\""),
            found("the program was version 1, now 2")
        );
        assert_eq!(one(",\"dutch\":\"bb\"", ""), found("--dataset was csv,dutch and is now csv"));
        assert!(
            one("\"aa\"", "\"cc\"")
                .is_some_and(|text| text.starts_with("dataset csv had other rows"))
        );
    }

    #[test]
    fn something_else_is_not_a_journal() {
        for other in ["hello", "", "{\"version\":\"0\"}", "[1]"] {
            assert_eq!(between(other, OLD), None, "{other}");
        }
    }
}
