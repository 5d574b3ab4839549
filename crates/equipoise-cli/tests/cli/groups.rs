//! More than two groups, groups by combinations of columns, and models that are blind to the group.

use crate::world::{CLIENTS, World};

/// A world whose schema was inferred with other options, with a proxy of every client.
fn world(infer: &str, fairness: &str) -> World {
    let world = World::new();
    world
        .run(&format!(
            "schema infer data.csv --label passed=1 --drop id {infer} -o schema.toml --force"
        ))
        .expect(0);
    for client in CLIENTS {
        world
            .run(&format!(
                "proxy {client}.csv --schema schema.toml --fairness {fairness} -o proxies/{client}.parquet"
            ))
            .expect(0);
    }
    world
}

#[test]
fn every_level_of_a_column_is_a_group() {
    let world = world("--sensitive region=coast", "sp");
    let shown = world.run("schema show schema.toml").expect(0).stdout;
    for part in ["3 groups", "0: region = coast, the reference", "2: region = plain"] {
        assert!(shown.contains(part), "{shown}");
    }
    world.defend("--fairness equalized-odds -o out").expect(0);
    let outcome = world.json("out/outcome.json");
    let groups = outcome["root_metrics"]["groups"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["region = coast", "region = hills", "region = plain"]);
    assert_eq!(outcome["features"][5], "region = plain");

    let measured =
        world.run("evaluate out/model.json test.csv --fairness sp --json").expect(0).json();
    let rates: Vec<f64> = measured["metrics"]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["selection_rate"]["value"].as_f64().unwrap())
        .collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let lowest = rates.iter().copied().fold(1.0, f64::min);
    let gap = measured["gap"].as_f64().unwrap();
    assert!((gap.abs() - (highest - lowest)).abs() < 1e-12, "{gap} with rates {rates:?}");
    assert!(
        measured["gap_low"].as_f64() <= Some(gap) && Some(gap) <= measured["gap_high"].as_f64()
    );

    // A value that is in no group is an error with the place and what to do.
    let text = world.read("test.csv").replacen("plain", "island", 1);
    world.write("island.csv", &text);
    world.run("evaluate out/model.json island.csv").expect(2).says(&[
        "island.csv",
        "column `region`",
        "`island` belongs to no group",
        "`coast`",
    ]);
}

#[test]
fn combinations_of_columns_are_groups_and_small_ones_are_pooled() {
    let world = world("--sensitive group=A --sensitive region=coast", "eo");
    let schema = world.read("schema.toml");
    assert!(schema.contains("columns = [\"group\", \"region\"]"), "{schema}");
    assert_eq!(schema.matches("[[sensitive.group]]").count(), 6, "{schema}");
    world.defend("--fairness sp:0.5,eo:0.5 -o out").expect(0);
    let outcome = world.json("out/outcome.json");
    assert_eq!(outcome["settings"]["fairness"], "sp:0.5,eo:0.5");
    assert_eq!(outcome["root_metrics"]["groups"].as_array().unwrap().len(), 6);

    // Only a few rows in the hills and on the plain: they are pooled, and the notes say so.
    let lines: Vec<String> = world.read("data.csv").lines().map(str::to_owned).collect();
    let mut inland = 0;
    let few = lines.iter().filter(|line| {
        let is_inland = line.contains("hills") || line.contains("plain");
        inland += usize::from(is_inland);
        !is_inland || inland <= 30
    });
    world.write("few.csv", &few.cloned().collect::<Vec<_>>().join("\n"));
    let run = world
        .run("schema infer few.csv --label passed=1 --drop id --sensitive region --json")
        .expect(0);
    let document = run.json();
    let notes = document["notes"].to_string();
    assert!(
        notes.contains(
            "pooled into the group `all other groups`: `region = hills`, `region = plain`"
        ),
        "{notes}"
    );
    let groups = document["schema"]["sensitive"]["group"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[1]["name"], "all other groups");

    // One combination against everyone else.
    let infer = "schema infer data.csv --label passed=1 --drop id --two-groups --json";
    let run = world.run(&format!("{infer} --sensitive group=A --sensitive region=coast")).expect(0);
    let groups = run.json()["schema"]["sensitive"]["group"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 2, "{groups}");
    assert_eq!(groups[0]["name"], "not (group = A, region = coast)");
}

#[test]
fn a_blind_model_predicts_without_the_sensitive_column() {
    let world = world("--sensitive group=A --blind", "sp");
    world.defend("--fairness sp -o out").expect(0);
    let features = world.json("out/model.json")["features"].to_string();
    assert!(!features.contains("group"), "{features}");

    // Predictions without the column are those with it.
    let without: Vec<String> = world
        .read("test.csv")
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [&cells[..4], &cells[5..]].concat().join(",")
        })
        .collect();
    world.write("without.csv", &(without.join("\n") + "\n"));
    world.run("predict out/model.json test.csv -o with.csv").expect(0);
    world.run("predict out/model.json without.csv -o blind.csv").expect(0);
    let scores = |file: &str| -> Vec<String> {
        let text = world.read(file);
        text.lines().map(|line| line.rsplit(',').take(2).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(scores("with.csv"), scores("blind.csv"));

    // Fairness is measured if the column is there, and needed if it is not.
    let measured = world.run("evaluate out/model.json test.csv --json").expect(0).json();
    assert!(measured["gap"].is_number());
    world.run("evaluate out/model.json without.csv").expect(2).says(&["without.csv", "`group`"]);
}
