#![allow(clippy::unwrap_used)]

use equipoise_core::{Client, Fairness, NoopObserver, solve};

use super::*;

const SCHEMA: &str = r#"
version = 1
intercept = true
[label]
column = "pass"
positive = "1"
[sensitive]
column = "race"
privileged = "White"
[[feature]]
column = "lsat"
kind = "numeric"
center = 0.0
scale = 1.0
"#;

fn solved() -> OutcomeFile {
    let schema = Schema::from_toml(SCHEMA, Path::new("schema.toml")).unwrap();
    // A fixed pattern: positive where x plus a wave is high, so that no plane separates the labels.
    let rows = |n: usize, phase: f64| {
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 1.7 + phase).sin()).collect();
        let s: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let y: Vec<bool> = (0..n).map(|i| x[i] + (i as f64 * 2.3).cos() > 0.0).collect();
        Rows::new(schema.layout(), &x, &s, &y).unwrap()
    };
    let clients = ["b", "a", "c"].iter().zip(0..);
    let round = Round::new(
        clients
            .map(|(id, k)| Client {
                id: id.to_string(),
                proxy: rows(40 + k, k as f64),
                root: rows(12, 0.5 + k as f64),
            })
            .collect(),
    )
    .unwrap();
    let settings = Settings::new(Fairness::SP).validate().unwrap();
    let outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
    let warning = OutcomeWarning {
        code: "one-class".into(),
        client: Some("a".into()),
        table: Some(WarnedTable::Root),
        message: "all 12 row(s) have a positive label in column `pass`".into(),
    };
    OutcomeFile::new(&schema, &round, &outcome, vec![warning], 0.25).unwrap()
}

fn overlapping() -> OutcomeFile {
    let clients = ["a", "c"].map(String::from);
    let overlap = Overlap { clients, shared_rows: 12, share: 0.3, estimated: false };
    solved().with_overlaps(Overlaps { listed: vec![overlap], more: 2 }).unwrap()
}

#[test]
fn overlaps_are_written_where_there_are_any_and_read_where_there_are_none() {
    let name = Path::new("o.json");
    let text = serde_json::to_string(&overlapping()).unwrap();
    let told = r#""overlaps":[{"clients":["a","c"],"shared_rows":12,"share":0.3,"estimated":false}],"more_overlaps":2,"#;
    assert!(text.contains(told), "{text}");
    assert_eq!(OutcomeFile::from_json(&text, name).unwrap(), overlapping());
    // As outcomes were written before there were overlaps.
    let without = text.replace(told, "");
    assert_eq!(without, serde_json::to_string(&solved()).unwrap());
    assert_eq!(OutcomeFile::from_json(&without, name).unwrap(), solved());
}

#[test]
fn an_outcome_reads_back_equal_and_ends_with_the_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("outcome.json");
    let outcome = solved();
    outcome.write(&path, false).unwrap();
    assert_eq!(OutcomeFile::read(&path).unwrap(), outcome);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("\"seconds\": 0.25\n}\n"), "{text}");
    assert_eq!(outcome.weights.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(outcome.clients[1].proxy_rows, 40);
    assert_eq!(outcome.features, ["lsat", "race", "(intercept)"]);
    assert_eq!(outcome.root_metrics.rows, 36);
}

#[test]
fn each_contradiction_is_refused_and_named() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 13] = [
        ("format `equipoise-model`", |v| v["format"] = "equipoise-model".into()),
        ("version 2", |v| v["version"] = 2.into()),
        ("unknown field `more`", |v| v["more"] = 1.into()),
        ("missing field `theta`", |v| {
            v.as_object_mut().unwrap().remove("theta");
        }),
        ("`theta` has 1 entries, but `features` has 3", |v| v["theta"] = vec![1.0].into()),
        ("do not agree about client `b`", |v| v["weights"]["b"] = 0.123.into()),
        ("do not agree about client `z`", |v| v["weights"]["z"] = 0.0.into()),
        ("`a` is out of place", |v| {
            v["clients"][1]["id"] = "a".into();
            v["clients"][0]["id"] = "b".into();
        }),
        ("sum of", |v| {
            for (c, id) in ["a", "b", "c"].iter().enumerate() {
                v["weights"][id] = 0.9.into();
                v["clients"][c]["weight"] = 0.9.into();
            }
        }),
        ("iteration 1 of `trace` has 1 weights", |v| {
            v["trace"][0]["weights"] = vec![1.0].into();
        }),
        ("clients `a` and `z`", |v| v["overlaps"][0]["clients"][1] = "z".into()),
        ("clients `c` and `a`", |v| v["overlaps"][0]["clients"] = vec!["c", "a"].into()),
        ("with a share of 1.5", |v| v["overlaps"][0]["share"] = 1.5.into()),
    ];
    let sound = serde_json::to_value(overlapping()).unwrap();
    for (expected, change) in cases {
        let mut value = sound.clone();
        change(&mut value);
        let error = OutcomeFile::from_json(&value.to_string(), Path::new("o.json")).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("o.json: ") && text.contains(expected), "{expected}: {text}");
    }
}
