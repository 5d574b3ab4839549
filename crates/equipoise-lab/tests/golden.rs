//! The golden test: the same inputs give the same results as when `golden.json` was written, to the last bit.
//!
//! It covers every defense, two criteria, two and four groups and a blind model, and every generator of proxies. A change
//! that is meant to alter results writes the file anew and says why in its commit:
//!
//! ```sh
//! EQUIPOISE_WRITE_GOLDEN=1 cargo test --release -p equipoise-lab --test golden
//! ```
#![allow(clippy::unwrap_used)]

use equipoise_core::{
    Choice, ClientData, Defense, Estimate, Fairness, NoopObserver, Outcome, Privacy,
    ProxyGenerator, ProxySettings, Round, Rows, Settings, generate_proxy, solve,
};
use equipoise_data::{Hasher, InferOptions, Purpose, Schema, infer, open_table, read_rows};
use equipoise_lab::{COLUMNS, Generator, Scenario, ScenarioKind, ScenarioSettings};
use equipoise_lab::{LABEL, SENSITIVE, make_population};
use serde_json::{Map, Value, json};

const N_PEOPLE: usize = 6_000;
const CRITERIA: [(&str, Fairness); 2] = [("sp", Fairness::SP), ("eo", Fairness::EO)];
const SCHEMAS: [&str; 3] = ["two groups", "four groups", "blind"];

/// The synthetic population, encoded for two groups, four groups, or a model that does not see the group.
fn population(kind: &str) -> (Rows, Schema) {
    let people = make_population(N_PEOPLE, 1);
    let lines = people.iter().map(|person| person.join(",") + "\n");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("population.csv");
    std::fs::write(&file, COLUMNS.join(",") + "\n" + &lines.collect::<String>()).unwrap();
    let mut sensitive = vec![(SENSITIVE.0.to_owned(), Some(SENSITIVE.1.to_owned()))];
    if kind == "four groups" {
        sensitive.push(("homeowner".to_owned(), Some("1".to_owned())));
    }
    let options = InferOptions {
        label: (LABEL.0.to_owned(), LABEL.1.to_owned()),
        sensitive,
        intercept: true,
        blind: kind == "blind",
        ..InferOptions::default()
    };
    let schema = infer(open_table(&file).unwrap(), &options).unwrap().schema;
    (read_rows(&file, &schema, Purpose::Data).unwrap().rows, schema)
}

/// Four clients, two of them unreliable.
fn round(rows: &Rows, fairness: Fairness) -> Round {
    let settings = ScenarioSettings {
        n_clients: 4,
        root_share: 0.05,
        generator: Generator::Target,
        ..ScenarioSettings::new(ScenarioKind::Realistic, fairness, 0.5, 1)
    };
    Scenario::build(rows, &settings, &mut |_, _| {}).unwrap().round().unwrap()
}

/// Numbers as decimals, which JSON reads back exactly; θ as bits, which nobody rounds by mistake.
fn record(outcome: &Outcome, fairness: Fairness) -> Value {
    let metrics = &outcome.root_metrics;
    let ends = |figure: Option<Estimate>| figure.map(|e| json!([e.value, e.low, e.high]));
    let gap = metrics.gap(fairness).unwrap();
    json!({
        "weights": outcome.weights(),
        "theta": outcome.theta.iter().map(|v| format!("{:016x}", v.to_bits())).collect::<Vec<_>>(),
        "verdict": outcome.verdict,
        "accuracy": ends(metrics.accuracy),
        "balanced_accuracy": ends(metrics.balanced_accuracy),
        "auc": ends(metrics.auc),
        "gap": [gap.value, gap.low, gap.high],
        "groups": gap.groups,
    })
}

fn digest(rows: &Rows) -> String {
    let mut hasher = Hasher::default();
    rows.values().iter().chain(rows.labels()).for_each(|v| hasher.update(v.to_le_bytes()));
    hasher.update(rows.groups());
    hasher.finish().to_string()
}

fn solve_all(expected: &mut Map<String, Value>) {
    for kind in SCHEMAS {
        let (rows, _) = population(kind);
        for (name, fairness) in CRITERIA {
            let round = round(&rows, fairness);
            for &defense in Defense::ALL {
                let requirements = "gap=0.15,accuracy=0.65".parse().unwrap();
                let settings = Settings { defense, requirements, ..Settings::new(fairness) };
                let outcome = solve(&round, &settings.validate().unwrap(), &mut NoopObserver);
                let key = format!("{defense}, {name}, {kind}");
                expected.insert(key, record(&outcome.unwrap(), fairness));
            }
        }
    }
}

fn generate_all(expected: &mut Map<String, Value>) {
    let privacy = Some(Privacy { epsilon: 3.0, delta: 1e-6, test_seed: Some(1) });
    let generators = [
        ("thresholds", ProxyGenerator::Thresholds, None),
        ("private", ProxyGenerator::Thresholds, privacy),
        ("paper", ProxyGenerator::Paper, None),
        ("raw", ProxyGenerator::Raw, None),
        ("transformation", ProxyGenerator::Transformation, None),
    ];
    for kind in SCHEMAS {
        let (rows, schema) = population(kind);
        let rows = rows.select(&(0..1500).collect::<Vec<_>>());
        for (criterion, fairness) in CRITERIA {
            for (name, generator, privacy) in generators {
                if generator == ProxyGenerator::Transformation && fairness != Fairness::SP {
                    continue;
                }
                let settings = ProxySettings { generator, privacy, ..ProxySettings::new(fairness) };
                let data = ClientData { rows: &rows, columns: schema.encoded_columns() };
                let proxy = generate_proxy(data, &settings, &mut NoopObserver);
                let key = format!("proxy {name}, {criterion}, {kind}");
                expected.insert(key, digest(&proxy.unwrap().rows).into());
            }
        }
    }
}

#[test]
fn results_are_what_they_were() {
    let mut found = Map::new();
    solve_all(&mut found);
    generate_all(&mut found);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.json");
    if std::env::var_os("EQUIPOISE_WRITE_GOLDEN").is_some() {
        // One result a line, so that a diff shows which ones changed.
        let lines = found.iter().map(|(key, value)| format!("{}: {value}", json!(key)));
        let lines: Vec<String> = lines.collect();
        std::fs::write(file, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
    }
    let expected: Map<String, Value> =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    let changed: Vec<&String> = found.keys().filter(|&key| found[key] != expected[key]).collect();
    assert!(
        changed.is_empty(),
        "{} of {} results changed: {changed:#?}",
        changed.len(),
        found.len()
    );
}
