//! Input that is accepted with a warning, or rejected with a reason.

use crate::world::{CLIENTS, HEADER, World, table};

#[test]
fn accepts_a_label_with_three_values_if_that_is_confirmed() {
    let world = World::new();
    let more = world.read("data.csv") + "400,50,1,coast,A,perhaps\n";
    world.write("three.csv", &more);
    let infer =
        "schema infer three.csv --label passed=1 --sensitive group=A --drop id -o three.toml";
    let refused = world.run(infer).expect(2).says(&[
        "three.csv, column `passed`: the label has 3 values",
        "\n  perhaps    1 row\n",
        &format!("hint: to confirm: equipoise {infer} --label-rest-negative\n"),
    ]);
    assert!(!world.path("three.toml").exists(), "{}", refused.stderr);
    let confirmed = world.run(&format!("{infer} --label-rest-negative")).expect(0);
    confirmed.says(&["note:", "`passed`", "`0`, `1`, `perhaps`"]);
    assert!(!world.read("three.toml").contains("negative"));
    let proxy = "proxy three.csv --schema three.toml --fairness sp --rows 50 -o p.csv";
    world.run(proxy).expect(0).says(&["warning:", "three.csv", "`0`, `1`, `perhaps`"]);
}

/// The client's rows whose group or label (the last two columns) has this value.
fn only(world: &World, column: usize, value: &str) -> String {
    let text = world.read("south.csv");
    let rows = text.lines().skip(1).filter(|row| row.split(',').nth(column) == Some(value));
    table(&rows.map(String::from).collect::<Vec<_>>())
}

#[test]
fn defend_warns_of_a_client_with_a_single_class_or_group() {
    for (column, value, code, says) in [
        (5, "1", "one-class", "has a positive label"),
        (4, "B", "one-group", "in the group `group ≠ A`"),
    ] {
        let world = World::with_proxies();
        world.write("part.csv", &only(&world, column, value));
        world.write_encoded("part.csv", "proxies/south.csv");
        let few: Vec<String> = world.read("part.csv").lines().take(15).map(String::from).collect();
        world.write("roots/south.csv", &(few.join("\n") + "\n"));
        let run = world.defend("--fairness sp --defense pooled -o out").expect(0);
        let run = run.says(&["warning: client `south`", "proxies/south.csv", "roots/south.csv"]);
        run.says(&[says]);
        let outcome = world.json("out/outcome.json");
        let warnings = outcome["warnings"].as_array().unwrap();
        // Warnings about single tables come last.
        let about_tables = &warnings[warnings.len() - 2..];
        for (warning, table) in about_tables.iter().zip(["proxy", "root"]) {
            assert_eq!(warning["code"], code, "{warnings:?}");
            assert_eq!(warning["client"], "south");
            assert_eq!(warning["table"], table);
        }
    }
}

/// The root contradicts every proxy, as if all clients had flipped their labels.
#[test]
fn falls_back_to_the_root_with_a_warning_if_no_client_helps() {
    let world = World::with_proxies();
    for client in ["north", "south", "east"] {
        let rows: Vec<String> = world
            .read(&format!("{client}.csv"))
            .lines()
            .skip(1)
            .map(|row| match row.rsplit_once(',') {
                Some((start, "1")) => format!("{start},0"),
                Some((start, _)) => format!("{start},1"),
                None => row.to_owned(),
            })
            .collect();
        world.write(&format!("roots/{client}.csv"), &table(&rows));
    }
    let run = world.defend("--fairness sp -o out").expect(0);
    let run = run.says(&["warning: no client has any weight", "is used instead"]);
    assert!(run.stdout.contains("fell back: the root-only model"), "{}", run.stdout);
    assert!(run.stdout.contains("this is the root-only model"), "{}", run.stdout);
    let outcome = world.json("out/outcome.json");
    assert_eq!(outcome["termination"], "fell-back");
    assert!(outcome["clients"].as_array().unwrap().iter().all(|client| client["weight"] == 0.0));
    assert!(world.read("out/report.html").contains("Fell back to the root"));

    world.defend("--fairness sp --no-fallback -o kept").expect(0);
    let kept = world.json("kept/outcome.json");
    assert_ne!(kept["termination"], "fell-back");
    assert!(kept["root_loss"].as_f64() > outcome["root_loss"].as_f64());
}

#[test]
fn reports_a_copied_client_but_not_the_honest_ones() {
    let world = World::with_proxies();
    let honest = world.defend("--fairness sp -o honest").expect(0);
    assert!(!honest.stderr.contains("share"), "{}", honest.stderr);
    assert!(!world.read("honest/outcome.json").contains("shared-rows"));
    assert_eq!(world.json("honest/outcome.json")["overlaps"], serde_json::json!([]));
    assert!(!world.read("honest/report.html").contains("in common"));

    // The rows of `south`, each twice, in another order and format.
    let south = world.read("proxies/south.csv");
    let (header, rows) = south.split_once('\n').unwrap();
    let mut copied: Vec<&str> = rows.lines().chain(rows.lines()).collect();
    copied.sort_unstable();
    world.write("proxies/west.csv", &format!("{header}\n{}\n", copied.join("\n")));
    std::fs::copy(world.path("roots/east.csv"), world.path("roots/west.csv")).unwrap();
    copied.dedup();
    let n = copied.len();
    let says = format!("warning: clients `south` and `west` share {n} distinct rows, 100 %");
    let run = world
        .defend("--fairness sp --defense pooled --json -o out")
        .expect(0)
        .says(&[says.as_str()]);
    let overlap = &world.json("out/outcome.json")["overlaps"];
    assert_eq!(overlap.as_array().unwrap().len(), 1, "{overlap}");
    assert_eq!(overlap[0]["clients"], serde_json::json!(["south", "west"]));
    assert_eq!(
        (overlap[0]["shared_rows"].as_u64(), &overlap[0]["share"]),
        (Some(n as u64), &1.0.into())
    );
    let document = run.json();
    assert_eq!(&document["overlaps"], overlap);
    let is_shared = |warning: &&serde_json::Value| warning["code"] == "shared-rows";
    let shared = document["warnings"].as_array().unwrap().iter().find(is_shared).unwrap();
    assert!(shared["message"].as_str().unwrap().starts_with("clients `south` and `west` share"));
    assert!(world.read("out/report.html").contains("south and west"));
}

#[test]
fn proxy_rejects_data_with_a_single_class_or_group() {
    for (column, value, says) in
        [(5, "1", "all labels are the same"), (4, "B", "rows are in the group")]
    {
        let world = World::new();
        world.write("part.csv", &only(&world, column, value));
        world
            .run("proxy part.csv --schema schema.toml --fairness sp -o p.parquet")
            .expect(2)
            .says(&["error: part.csv", says, "hint:"]);
        assert!(!world.path("p.parquet").exists());
    }
}

#[test]
fn proxy_warns_of_init_data() {
    let world = World::new();
    world
        .run("proxy east.csv --schema schema.toml --fairness sp --init data -o p.csv")
        .expect(0)
        .says(&["warning: --init data", "experiments only"]);
}

#[test]
fn quiet_suppresses_notes() {
    let world = World::new();
    let infer = "schema infer data.csv --label passed=1 --sensitive group=A -o s.toml";
    assert_eq!(world.run(&format!("{infer} -q")).expect(0).stderr, "");
    world.write("constant.csv", &format!("{HEADER}\n1,2,1,coast,A,1\n2,3,1,hills,B,0\n"));
    let constant = "schema infer constant.csv --label passed=1 --sensitive group=A";
    world.run(constant).expect(0).says(&["note: column `work` is always `1`"]);
}

#[test]
fn evaluate_explains_undefined_metrics() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    world.write("part.csv", &only(&world, 4, "B"));
    let run = world.run("evaluate out/model.json part.csv").expect(0);
    assert!(run.stdout.contains("no row is in the group `group = A`"), "{}", run.stdout);
    assert!(world.run("evaluate out/model.json part.csv --json").json()["gap"].is_null());
}

#[test]
fn warnings_about_figures_have_a_code_and_a_message() {
    let world = World::with_proxies();
    // Eight root rows per client cannot tell; all of the clients' rows can.
    for client in CLIENTS {
        let root: Vec<String> =
            world.read(&format!("{client}.csv")).lines().take(9).map(String::from).collect();
        world.write(&format!("roots/{client}.csv"), &(root.join("\n") + "\n"));
    }
    let document = world.defend("--fairness sp -o few --json").expect(0).json();
    let find = |document: &serde_json::Value, code: &str| {
        let warnings = document["warnings"].as_array().unwrap();
        warnings.iter().find(|w| w["code"] == code).map(|w| w["message"].to_string())
    };
    let text = find(&document, "root-too-small").unwrap();
    assert!(text.contains("rows per group would be needed"), "{text}");
    assert!(world.read("few/report.html").contains("too small to tell"));
    for client in CLIENTS {
        world.write(&format!("roots/{client}.csv"), &world.read(&format!("{client}.csv")));
    }
    let run = world.defend("--fairness sp --defense pooled -o many --json").expect(0);
    assert_eq!(find(&run.json(), "root-too-small"), None);
}

#[test]
fn evaluate_warns_of_a_model_that_is_no_better_than_a_constant() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    let run = world.run("evaluate out/model.json data.csv --json").expect(0);
    assert_eq!(run.json()["warnings"].as_array().unwrap().len(), 0, "{}", run.stdout);
    // Nobody's probability is that high.
    let command = "evaluate out/model.json data.csv --threshold 0.99999";
    let run = world.run(&format!("{command} --json")).expect(0);
    assert_eq!(run.json()["warnings"][0]["code"], "no-better-than-constant");
    world.run(command).expect(0).says(&["warning: the model is no better than a constant", "none"]);
}

#[test]
fn a_folder_in_place_of_a_model_is_explained() {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out").expect(0);
    let says = |folder: &str, parts: &[&str]| {
        world.run(&format!("evaluate {folder} data.csv")).expect(2).says(parts);
    };
    says("out", &["out: is a folder, not a model", "Give its file out/model.json"]);
    says("roots", &["roots: is a folder", "has no model.json"]);
}

#[test]
fn a_defense_that_cannot_be_swept_is_refused_before_anything_is_read() {
    let world = World::new();
    let command = "defend --proxies nowhere --trusted nowhere --schema nowhere.toml --fairness sp";
    let run = world.run(&format!("{command} --defense fedasl --sweep -o out")).expect(2);
    run.says(&["error: --sweep needs --defense bilevel or tilt: fedasl"]);
    assert!(!world.path("out").exists());
}

/// The codes of the warnings in a JSON document.
fn codes_of(document: &str) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let warnings = document["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn proxy_warns_of_few_rows_in_text_and_json() {
    let world = World::new();
    let proxy = "proxy east.csv --schema schema.toml --fairness sp --rows 60";
    let n_rows = world.read("east.csv").lines().count() - 1;
    assert!(n_rows < 500, "{n_rows}");
    let says = format!("warning: the data has {n_rows} rows");
    let run = world.run(&format!("{proxy} --json -o few.csv")).expect(0).says(&[says.as_str()]);
    let codes = codes_of(&run.stdout);
    assert!(codes.iter().any(|code| code == "few-data-rows"), "{codes:?}");
    assert!(!codes.iter().any(|code| code == "starts-from-data"), "{codes:?}");

    let rows: Vec<String> = world.read("data.csv").lines().skip(1).map(String::from).collect();
    let many: Vec<String> = (0..500).map(|i| rows[i % rows.len()].clone()).collect();
    world.write("many.csv", &table(&many));
    let proxy = "proxy many.csv --schema schema.toml --fairness sp --rows 60 --init data";
    let run = world.run(&format!("{proxy} --json -o many-proxy.csv")).expect(0);
    let codes = codes_of(&run.stdout);
    assert!(!codes.iter().any(|code| code == "few-data-rows"), "{codes:?}");
    assert!(codes.iter().any(|code| code == "starts-from-data"), "{codes:?}");
}
