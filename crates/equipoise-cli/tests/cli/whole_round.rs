//! A whole round without a server, from a table to predictions.

use equipoise_core::{Choice, Defense};
use equipoise_data::{Model, outcome};

use crate::world::{CLIENTS, World};

#[test]
fn a_round_from_schema_to_predictions() {
    let world = World::with_proxies();
    let shown = world.run("schema show schema.toml").expect(0).stdout;
    for part in ["region=coast, region=hills, region=plain", "`A` is 1", "5 encoded columns"] {
        assert!(shown.contains(part), "{shown}");
    }

    let checked = world
        .run("check proxies/east.parquet --data east.csv --schema schema.toml --fairness sp --max-gap 0.05")
        .expect(0);
    assert!(checked.stdout.starts_with("fair: the worst gap"), "{}", checked.stdout);

    let defended = world.defend("--fairness sp -o out").expect(0);
    for part in ["east", "counted in full", "tilt for statistical parity", "134", "60 root rows"] {
        assert!(defended.stdout.contains(part), "no {part:?} in {}", defended.stdout);
    }

    let outcome = outcome::read(&world.path("out/outcome.json")).unwrap();
    assert_eq!(outcome.schema_digest, world.schema().digest().to_string());
    let clients = &outcome.clients;
    assert_eq!(clients.iter().map(|client| &client.id).collect::<Vec<_>>(), CLIENTS);
    assert!((outcome.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!((clients[2].id.as_str(), clients[2].proxy_rows), ("south", 130));
    assert!(clients[2].weight < 0.1, "the biased client has weight: {clients:?}");
    assert!(outcome.tilt.is_some() && outcome.trace.is_empty());

    let weights = world.read("out/weights.csv");
    let lines: Vec<&str> = weights.lines().collect();
    assert_eq!((lines[0], lines.len()), ("client,weight,rows", 4));
    assert!(lines[1].starts_with("east,") && lines[3].ends_with(",130"), "{weights}");

    let model = Model::read(&world.path("out/model.json")).unwrap();
    assert_eq!(model.theta(), outcome.theta);

    let evaluated = world.run("evaluate out/model.json test.csv").expect(0).stdout;
    for part in
        ["accuracy", "AUC", "gap in selection rate", "95 % interval", "group = A", "group ≠ A"]
    {
        assert!(evaluated.contains(part), "{evaluated}");
    }
    let metrics = world.run("evaluate out/model.json test.csv --json").expect(0).json();
    assert_eq!(metrics["rows"], 300);
    assert!(metrics["accuracy"].as_f64().unwrap() > 0.7, "{metrics}");
    assert_eq!(metrics["metrics"]["groups"][1]["name"], "group = A");
    assert!(metrics["metrics"]["groups"][1]["selection_rate"]["high"].is_number());

    for name in ["scores.csv", "scores.csv.gz", "scores.parquet"] {
        world.run(&format!("predict out/model.json test.csv -o {name}")).expect(0);
    }
    let scores = world.read("scores.csv");
    assert_eq!(scores.lines().next(), Some("row,score,probability,selected"));
    assert_eq!(scores.lines().count(), 301);
    for line in scores.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells[1] > 0.0, cells[3] == 1.0, "{line}");
        assert!((cells[2] - 1.0 / (1.0 + (-cells[1]).exp())).abs() < 1e-12, "{line}");
    }
}

#[test]
fn exports_store_the_figures_of_the_right_outcome() {
    let world = World::with_proxies();
    for defense in ["pooled", "root-only"] {
        world.defend(&format!("--fairness sp --defense {defense} -o {defense}")).expect(0);
    }
    let export = "export --onnx pooled/model.json";
    world.run(&format!("{export} -o a.onnx")).expect(0);
    world.run(&format!("{export} --outcome pooled/outcome.json -o b.onnx")).expect(0);
    let bytes = |name: &str| std::fs::read(world.path(name)).unwrap();
    assert_eq!(bytes("a.onnx"), bytes("b.onnx"));
    let text = String::from_utf8_lossy(&bytes("a.onnx")).into_owned();
    for part in ["equipoise.schema_digest", "equipoise.figures", "balanced_accuracy"] {
        assert!(text.contains(part), "{part}");
    }
    world.run(&format!("{export} -o a.onnx")).expect(2).says(&["a.onnx", "already exists"]);
    let other = world.run(&format!("{export} --outcome root-only/outcome.json -o c.onnx"));
    other.expect(2).says(&["belongs to another model"]);
    world.run("export pooled/model.json -o c.onnx").expect(2).says(&["--onnx"]);
    assert!(!world.path("c.onnx").exists());
}

#[test]
fn predict_needs_no_label_and_ignores_other_columns() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    world.write("new.csv", "name,group,region,work,score\nx,A,coast,1,70\ny,B,plain,0,20\n");
    let done = world.run("predict out/model.json new.csv -o s.csv --json").expect(0).json();
    assert_eq!((&done["rows"], &done["selected"]), (&2.into(), &1.into()));
    assert!(world.read("s.csv").lines().nth(2).unwrap().ends_with(",0"));
}

#[test]
fn every_defense_and_profile_gives_a_model() {
    let world = World::with_proxies();
    for defense in Defense::ALL.iter().filter(|&&defense| defense != Defense::Bilevel) {
        let run = world.defend(&format!("--fairness eo --defense {defense} -o {defense} --json"));
        let document = run.expect(0).json();
        assert_eq!(document["termination"], "direct");
        assert_eq!(document["theta"].as_array().unwrap().len(), 7);
    }
    let paper = "--fairness sp:0.5,eo:0.5 --profile paper --inner lbfgs --iterations 40 -o paper";
    let document = world.defend(&format!("{paper} --json")).expect(0).json();
    assert_eq!(document["termination"], "schedule-completed");
    let client = "--fairness sp --defense bilevel --root-weighting client --iterations 60 \
                  --rho-start 1 --rho-max 10";
    let code = world.defend(&format!("{client} -o client --json")).code;
    assert!(code == 0 || code == 1);
    let outcome = world.json("client/outcome.json");
    assert_eq!(outcome["settings"]["root_weighting"], "client");
    assert_eq!(outcome["settings"]["outer"]["rho"]["max"], 10.0);
}

#[test]
fn force_replaces_only_an_earlier_outcome() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    world.defend("--fairness sp --defense root-only -o out --force").expect(0);
    assert_eq!(world.json("out/outcome.json")["settings"]["defense"], "root-only");
    world.defend("--fairness sp -o roots --force").expect(2).says(&["roots", "not replaced"]);
    assert!(world.path("roots/east.csv").exists());
}
