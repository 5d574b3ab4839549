#![allow(clippy::unwrap_used)]

use equipoise_core::{
    Client, ClientAudit, DistinctRows, Estimate, Fairness, LeftOut, NoopObserver, Overlap,
    OwnModel, Round, Rows, Settings, TableRole, Warning, WarningCode, solve,
};

use super::*;
use crate::schema::Schema;

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

fn solved() -> Outcome {
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
    let mut outcome = solve(&round, &settings, &mut NoopObserver).unwrap();
    outcome.schema_digest = schema.digest().to_string();
    outcome.features = schema.theta_names();
    let clients = ["a", "c"].map(String::from);
    outcome.overlaps = vec![Overlap { clients, shared_rows: 12, share: 0.3, estimated: false }];
    outcome.warnings.push(Warning {
        client: Some("a".into()),
        table: Some(TableRole::Root),
        ..Warning::new(WarningCode::OneClass, "every row has a positive label in column `pass`")
    });
    outcome
}

#[test]
fn an_outcome_reads_back_equal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("outcome.json");
    let outcome = solved();
    check(&outcome).unwrap();
    std::fs::write(&path, to_json(&outcome)).unwrap();
    assert_eq!(read(&path).unwrap(), outcome);
    let clients = &outcome.clients;
    assert_eq!(clients.iter().map(|client| &client.id).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(clients[1].proxy_rows, 40);
    assert_eq!(outcome.features, ["lsat", "race", "(intercept)"]);
    assert_eq!(outcome.root_metrics.rows, 36);
}

#[test]
fn the_file_has_the_keys_of_version_2() {
    let value = serde_json::to_value(solved()).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "about clients comparisons counts features format gap judgements more_overlaps objective overlaps rho \
                    root_loss root_metrics schema_digest settings sweep termination theta trace verdict version violation \
                    violations warnings";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    let warning = serde_json::json!({
        "code": "one-class", "client": "a", "table": "root",
        "message": "every row has a positive label in column `pass`",
    });
    assert_eq!(value["warnings"].as_array().unwrap().last(), Some(&warning));
}

#[test]
fn the_round_and_the_audit_of_each_client_read_back_equal() {
    let mut outcome = solved();
    outcome.about.round = Some("spring".to_owned());
    outcome.about.date = Some("2026-03-31".to_owned());
    let estimate = Estimate { value: 0.4, low: 0.3, high: 0.6 };
    outcome.clients[1].audit = Some(ClientAudit {
        reason: "it helps".to_owned(),
        own_model: Some(OwnModel { accuracy: Some(estimate), gap: None }),
        left_out: Some(LeftOut { loss: -0.1, gap: None }),
        privacy: None,
        distinct_rows: Some(DistinctRows { rows: 40, estimated: false }),
    });
    let text = to_json(&outcome);
    assert_eq!(from_json(&text, Path::new("o.json")).unwrap(), outcome);
}

#[test]
fn rejects_an_inconsistent_outcome_and_names_the_problem() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(&str, Change); 12] = [
        ("format `equipoise-model`", |v| v["format"] = "equipoise-model".into()),
        ("version 3 is not supported, only version 2. Use a newer", |v| v["version"] = 3.into()),
        ("version 1 is not supported, only version 2. An older", |v| v["version"] = 1.into()),
        ("unknown field `more`", |v| v["more"] = 1.into()),
        ("missing field `theta`", |v| {
            v.as_object_mut().unwrap().remove("theta");
        }),
        ("`theta` has 1 entries, but `features` has 3", |v| v["theta"] = vec![1.0].into()),
        ("`a` is out of order", |v| {
            v["clients"][1]["id"] = "a".into();
            v["clients"][0]["id"] = "b".into();
        }),
        ("sum of", |v| {
            (0..3).for_each(|c| v["clients"][c]["weight"] = 0.9.into());
        }),
        ("iteration 1 of `trace` has 1 weights", |v| {
            v["trace"][0]["weights"] = vec![1.0].into();
        }),
        ("clients `a` and `z`", |v| v["overlaps"][0]["clients"][1] = "z".into()),
        ("clients `c` and `a`", |v| v["overlaps"][0]["clients"] = vec!["c", "a"].into()),
        ("with a share of 1.5", |v| v["overlaps"][0]["share"] = 1.5.into()),
    ];
    let valid = serde_json::to_value(solved()).unwrap();
    for (expected, change) in cases {
        let mut value = valid.clone();
        change(&mut value);
        let error = from_json(&value.to_string(), Path::new("o.json")).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("o.json: ") && text.contains(expected), "{expected}: {text}");
    }
}
