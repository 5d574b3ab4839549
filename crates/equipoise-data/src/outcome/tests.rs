#![allow(clippy::unwrap_used)]

use equipoise_core::{
    Client, ClientAudit, DistinctRows, Estimate, Fairness, LeftOut, NoopObserver, OwnModel, Round,
    Rows, Settings, TableRole, WarningCode, solve,
};

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
    solved_with(Overlaps::default())
}

fn solved_with(overlaps: Overlaps) -> OutcomeFile {
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
    let settings = Settings::bilevel(Fairness::SP).validate().unwrap();
    let outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
    let warning = Warning {
        client: Some("a".into()),
        table: Some(TableRole::Root),
        file: Some("roots/a.csv".into()),
        ..Warning::new(WarningCode::OneClass, "every row has a positive label in column `pass`")
    };
    OutcomeFile::new(&schema, outcome, vec![warning], overlaps, 0.25).unwrap()
}

fn overlapping() -> OutcomeFile {
    let clients = ["a", "c"].map(String::from);
    let overlap = Overlap { clients, shared_rows: 12, share: 0.3, estimated: false };
    solved_with(Overlaps { listed: vec![overlap], more: 2 })
}

#[test]
fn overlaps_are_optional_in_the_file() {
    let name = Path::new("o.json");
    let text = serde_json::to_string(&overlapping()).unwrap();
    let written = r#""overlaps":[{"clients":["a","c"],"shared_rows":12,"share":0.3,"estimated":false}],"more_overlaps":2,"#;
    assert!(text.contains(written), "{text}");
    assert_eq!(OutcomeFile::from_json(&text, name).unwrap(), overlapping());
    let warning = r#"{"code":"shared-rows","message":"clients `a` and `c` share 12 distinct rows, 30 % of the smaller client's; 2 more pairs of clients share rows"},"#;
    assert!(text.contains(warning), "{text}");
    let without = text.replace(written, "").replace(warning, "");
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
    let clients = &outcome.outcome.clients;
    assert_eq!(clients.iter().map(|client| &client.id).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(clients[1].proxy_rows, 40);
    assert_eq!(outcome.features, ["lsat", "race", "(intercept)"]);
    assert_eq!(outcome.outcome.root_metrics.rows, 36);
}

#[test]
fn the_file_has_the_keys_of_version_2() {
    let value = serde_json::to_value(overlapping()).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "clients comparisons counts evaluations features format gap judgements more_overlaps objective \
                    overlaps rho root_loss root_metrics schema_digest seconds settings termination theta trace verdict \
                    version violation violations warnings weights";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    let warning = serde_json::json!({
        "code": "one-class", "client": "a", "table": "root",
        "message": "every row has a positive label in column `pass`",
    });
    // Warnings about single tables come last.
    assert_eq!(value["warnings"].as_array().unwrap().last(), Some(&warning));
    assert_eq!(value["weights"]["b"], value["clients"][1]["weight"]);
    assert_eq!(value["evaluations"], value["counts"]["evaluations"]);
}

#[test]
fn the_round_and_the_audit_of_each_client_read_back_equal() {
    let mut file = solved();
    file.about.round = Some("spring".to_owned());
    file.about.date = Some("2026-03-31".to_owned());
    let estimate = Estimate { value: 0.4, low: 0.3, high: 0.6 };
    file.outcome.clients[1].audit = Some(ClientAudit {
        reason: "it helps".to_owned(),
        own_model: Some(OwnModel { accuracy: Some(estimate), gap: None }),
        left_out: Some(LeftOut { loss: -0.1, gap: None }),
        privacy: None,
        distinct_rows: Some(DistinctRows { rows: 40, estimated: false }),
    });
    let text = file.to_json();
    assert_eq!(OutcomeFile::from_json(&text, Path::new("o.json")).unwrap(), file);
}

#[test]
fn rejects_an_inconsistent_outcome_and_names_the_problem() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 14] = [
        ("format `equipoise-model`", |v| v["format"] = "equipoise-model".into()),
        ("version 3 is not supported, only version 2. Use a newer", |v| v["version"] = 3.into()),
        ("version 1 is not supported, only version 2. An older", |v| v["version"] = 1.into()),
        ("unknown field `more`", |v| v["more"] = 1.into()),
        ("missing field `theta`", |v| {
            v.as_object_mut().unwrap().remove("theta");
        }),
        ("`theta` has 1 entries, but `features` has 3", |v| v["theta"] = vec![1.0].into()),
        ("disagree about client `b`", |v| v["weights"]["b"] = 0.123.into()),
        ("disagree about client `z`", |v| v["weights"]["z"] = 0.0.into()),
        ("`a` is out of order", |v| {
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
    let valid = serde_json::to_value(overlapping()).unwrap();
    for (expected, change) in cases {
        let mut value = valid.clone();
        change(&mut value);
        let error = OutcomeFile::from_json(&value.to_string(), Path::new("o.json")).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("o.json: ") && text.contains(expected), "{expected}: {text}");
    }
}
