//! `--json` prints exactly one document, and every help text has an example.

use crate::world::World;

#[test]
fn every_command_prints_one_json_document() {
    let world = World::with_proxies();
    let sp = "--schema schema.toml --fairness sp";
    let cases: [(String, &[&str]); 15] = [
        (
            "schema infer data.csv --label passed=1 --sensitive group=A".into(),
            &["path", "digest", "schema", "notes"],
        ),
        (
            "schema describe east.csv --label passed=1 --sensitive group=A -o e.json".into(),
            &["path", "description", "notes"],
        ),
        ("schema merge e.json".into(), &["path", "digest", "schema", "notes"]),
        ("schema show schema.toml".into(), &["digest", "encoded", "theta", "schema"]),
        (
            format!("proxy east.csv {sp} --rows 50 --epsilon 0.1 -o p.csv"),
            &["path", "rows", "loss", "violation", "epsilon_met", "closeness", "definition_1"],
        ),
        (
            format!("check proxies/east.parquet --data east.csv {sp} --max-gap 0.1"),
            &[
                "fair",
                "gap",
                "gap_low",
                "gap_high",
                "accuracy",
                "balanced_accuracy",
                "separation",
                "theta",
            ],
        ),
        (
            format!("defend --proxies proxies --trusted roots {sp} -o out"),
            &[
                "path",
                "clients",
                "theta",
                "features",
                "objective",
                "violation",
                "termination",
                "counts",
            ],
        ),
        (
            "evaluate out/model.json test.csv".into(),
            &["rows", "gap", "gap_low", "gap_high", "accuracy", "balanced_accuracy", "metrics"],
        ),
        (
            "adapt out/model.json east.csv -o my-model.json".into(),
            &["path", "rows", "fairness", "models", "recommended", "reason", "chosen", "warnings"],
        ),
        (
            "predict out/model.json test.csv -o s.parquet".into(),
            &["path", "rows", "selected", "positive", "warnings"],
        ),
        (
            "split data.csv --schema schema.toml --clients 2 --trusted 0.05 -o split".into(),
            &["path", "schema_digest", "fairness", "seed", "clients", "commands"],
        ),
        (
            "proxy east.csv --schema schema.toml --generator raw -o encoded.csv".into(),
            &["path", "generator", "rows", "columns", "schema_digest", "warnings"],
        ),
        ("export --onnx out/model.json -o model.onnx".into(), &["path", "bytes", "outcome"]),
        ("data list".into(), &["datasets"]),
        ("completions bash".into(), &["shell", "script"]),
    ];
    for (arguments, keys) in cases {
        let document = world.run(&format!("{arguments} --json")).expect(0).json();
        for key in keys {
            assert!(document.get(key).is_some(), "{arguments}: no {key} in {document}");
        }
    }
    let outcome = world.json("out/outcome.json");
    assert_eq!(outcome["clients"].as_array().unwrap().len(), 3);
    assert_eq!(outcome["features"][6], "(intercept)");
}

#[test]
fn every_error_prints_one_json_document() {
    let world = World::new();
    for arguments in [
        "evaluate none.json test.csv",
        "defend --proxies proxies",
        "frobnicate",
        "check a.csv --data b.csv --schema schema.toml --fairness sp --epsilon 0.1",
    ] {
        let run = world.run(&format!("{arguments} --json")).expect(2);
        let document = run.json();
        assert!(document["error"].as_str().is_some_and(|text| !text.is_empty()), "{document}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    }
}

#[test]
fn every_help_has_an_example_and_commands_are_in_the_order_of_a_round() {
    let world = World::new();
    let commands = [
        "",
        "split",
        "schema",
        "schema infer",
        "schema describe",
        "schema merge",
        "schema show",
        "proxy",
        "check",
        "defend",
        "evaluate",
        "adapt",
        "predict",
        "export",
        "keygen",
        "round",
        "round new",
        "round open",
        "round revoke",
        "round export",
        "round backup",
        "round restore",
        "serve",
        "submit",
        "status",
        "close",
        "model",
        "verify",
        "audit",
        "head",
        "data",
        "data list",
        "data fetch",
        "completions",
    ];
    for command in commands {
        for flag in ["--help", "-h"] {
            let help = world.run(&format!("{command} {flag}")).expect(0).stdout;
            assert!(help.contains("Example"), "{command}: {help}");
            assert!(help.contains("--json") && help.contains("--threads"), "{command}: {help}");
        }
    }
    let help = world.run("--help").stdout;
    let order = ["  schema ", "  proxy ", "  check ", "  defend ", "  evaluate ", "  predict "];
    let positions: Vec<usize> = order.iter().map(|name| help.find(name).unwrap()).collect();
    assert!(positions.is_sorted(), "{help}");
}
