//! Schemas agreed by clients who may not share rows, missing values, and levels that nobody knew of.

mod messy_tables;
mod public_tables;

use serde_json::Value;

use crate::world::{CLIENTS, World};

const ROLES: &str = "--label passed=1 --sensitive group=A --drop id";

/// Describes every client's table, with further options.
fn describe(world: &World, more: &str) {
    for client in CLIENTS {
        world
            .run(&format!(
                "schema describe {client}.csv {ROLES} {more} -o {client}.description.json"
            ))
            .expect(0);
    }
}

fn descriptions() -> String {
    CLIENTS.map(|client| format!("{client}.description.json")).join(" ")
}

/// Checks that two JSON documents are equal except for numbers that differ by rounding.
#[track_caller]
fn assert_close(a: &Value, b: &Value, at: &str) {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{at}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter()
                .zip(b)
                .enumerate()
                .for_each(|(i, (a, b))| assert_close(a, b, &format!("{at}/{i}")));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{at}");
            a.iter().for_each(|(key, a)| assert_close(a, &b[key], &format!("{at}/{key}")));
        }
        _ => assert_eq!(a, b, "{at}"),
    }
}

#[test]
fn clients_agree_on_a_schema_without_sharing_rows() {
    let world = World::new();
    describe(&world, "");
    let north = world.read("north.description.json");
    for part in ["\"client\": \"north\"", "\"min_rows\": 5", "in fewer than 5 rows are withheld"] {
        assert!(north.contains(part), "{north}");
    }
    world.run(&format!("schema merge {} -o merged.toml", descriptions())).expect(0);
    let shown = |schema: &str| world.run(&format!("schema show {schema} --json")).expect(0).json();
    let (merged, inferred) = (shown("merged.toml"), shown("schema.toml"));
    assert_close(&merged["schema"], &inferred["schema"], "");

    // Whoever merges, in whatever order, gets the same file.
    let reversed: Vec<String> =
        CLIENTS.iter().rev().map(|client| format!("{client}.description.json")).collect();
    world.run(&format!("schema merge {} -o reversed.toml", reversed.join(" "))).expect(0);
    assert_eq!(world.read("merged.toml"), world.read("reversed.toml"));
    let files: Vec<String> = CLIENTS.iter().map(|client| format!("{client}.csv")).collect();
    let all = world.run(&format!("schema infer {} {ROLES} -o all.toml", files.join(" "))).expect(0);
    assert!(all.stdout.contains("digest"), "{}", all.stdout);
    assert_eq!(world.read("all.toml"), world.read("schema.toml"), "the tables make up data.csv");

    for client in CLIENTS {
        world
            .run(&format!(
                "proxy {client}.csv --schema merged.toml --fairness sp -o proxies/{client}.parquet"
            ))
            .expect(0);
    }
    world
        .run("defend --proxies proxies --trusted roots --schema merged.toml --fairness sp -o out")
        .expect(0);
    world.run("evaluate out/model.json test.csv").expect(0);
}

#[test]
fn a_description_says_what_it_tells() {
    let world = World::new();
    let text = world.read("north.csv").replacen("plain", "island", 2);
    world.write("north.csv", &text);
    let run = world.run(&format!("schema describe north.csv {ROLES} -o d.json")).expect(0);
    for part in
        ["client `north`, 134 rows", "mean and variance", "3 values with counts", "2 groups"]
    {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    assert!(!run.stdout.contains("island") && !world.read("d.json").contains("island"));
    run.says(&["note: wrote d.json; read it before you send it", "withheld", "`island`"]);
    let all = world.run(&format!("schema describe north.csv {ROLES} --min-rows 1")).expect(0);
    assert!(all.stdout.contains("island") && all.stdout.contains("Nothing is withheld"));
    assert!(all.stderr.is_empty(), "{}", all.stderr);
}

#[test]
fn unknown_levels_are_other_or_an_error() {
    let world = World::with_proxies();
    let text = world.read("test.csv").replacen("plain", "island", 3).replacen("hills", "sea", 2);
    world.write("new.csv", &text);
    world.defend("--fairness sp -o strict").expect(0);
    world
        .run("predict strict/model.json new.csv -o none.csv")
        .expect(1)
        .says(&["5 of 300 rows could not be scored", "is not one of the levels"]);

    world
        .run(&format!("schema infer data.csv {ROLES} --unknown other -o schema.toml --force"))
        .expect(0);
    let shown = world.run("schema show schema.toml").expect(0).stdout;
    assert!(shown.contains("3 levels, unknown → other"), "{shown}");
    for client in ["east", "north"] {
        let proxy = format!("proxy {client}.csv --schema schema.toml --fairness sp --force");
        world.run(&format!("{proxy} -o proxies/{client}.parquet")).expect(0);
    }
    world.defend("--fairness sp -o out").expect(0);
    let strict = world.json("strict/model.json");
    let model = world.json("out/model.json");
    assert_eq!(strict["theta"], model["theta"], "the proxies have no unknown levels");
    assert_ne!(strict["schema_digest"], model["schema_digest"]);
    assert!(model["schema"].to_string().contains("\"unknown\":\"other\""), "{model}");

    let run = world.run("predict out/model.json new.csv -o scores.csv --json").expect(0);
    let warnings = run.json()["warnings"].clone();
    assert_eq!(warnings[0]["code"], "unknown-levels", "{warnings}");
    run.says(&[
        "warning: new.csv: values that are not in the schema count as other",
        "`region` (5)",
    ]);

    // The score of an unknown region is that of the rest of the row.
    world.run("predict out/model.json test.csv -o known.csv").expect(0);
    let scores = |file: &str| -> Vec<f64> {
        let text = world.read(file);
        text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect()
    };
    let theta = |region: &str| {
        let features = model["features"].as_array().unwrap();
        let at = features.iter().position(|name| *name == format!("region={region}")).unwrap();
        model["theta"][at].as_f64().unwrap()
    };
    let (known, unknown) = (scores("known.csv"), scores("scores.csv"));
    let lines: Vec<String> = world.read("new.csv").lines().skip(1).map(str::to_owned).collect();
    let mut n_unknown = 0;
    for (i, line) in lines.iter().enumerate() {
        let lost = match line.split(',').nth(3).unwrap() {
            "island" => theta("plain"),
            "sea" => theta("hills"),
            _ => 0.0,
        };
        n_unknown += usize::from(lost != 0.0);
        assert!((known[i] - lost - unknown[i]).abs() < 1e-12, "row {}", i + 1);
    }
    assert_eq!(n_unknown, 5);

    let measured = world.run("evaluate out/model.json new.csv --json").expect(0).json();
    assert!(measured["warnings"].to_string().contains("unknown-levels"), "{measured}");
    // A root with an unknown level: the outcome says so, without the level, because outcomes are published.
    let root = world.read("roots/east.csv").replacen("plain", "island", 1);
    world.write("roots/east.csv", &root);
    world.defend("--fairness sp -o with").expect(0).says(&["`region` (1)"]);
    let outcome = world.read("with/outcome.json");
    assert!(outcome.contains("unknown-levels") && !outcome.contains("island"), "{outcome}");
    // An unknown group has nothing to stand for it.
    world.write("groups.csv", &world.read("test.csv").replacen(",B,", ",C,", 1));
    world
        .run("schema infer data.csv --label passed=1 --sensitive region --drop id --unknown other -o region.toml")
        .expect(0);
    world
        .run("proxy new.csv --schema region.toml --fairness sp -o p.csv")
        .expect(2)
        .says(&["belongs to no group: the schema has"]);
}

#[test]
fn bad_descriptions_are_refused_and_nothing_is_written() {
    let world = World::new();
    describe(&world, "");
    world.write("text.json", "not JSON");
    world.write("other.json", "{\"format\": \"equipoise-model\", \"version\": 1}");
    let edited = world.read("east.description.json").replacen("\"rows\": 134", "\"rows\": 133", 1);
    world.write("edited.json", &edited);
    let before = world.names();
    let cases: [(&str, &[&str]); 9] = [
        ("schema merge", &["<DESCRIPTIONS>"]),
        ("schema merge nowhere.json", &["nowhere.json", "cannot be read"]),
        ("schema merge text.json", &["text.json", "schema describe"]),
        ("schema merge other.json", &["other.json", "equipoise-model", "equipoise-description"]),
        (
            "schema merge edited.json",
            &["edited.json", "add up to 133", "as `schema describe` wrote it"],
        ),
        (
            "schema merge east.description.json east.description.json",
            &["two descriptions are of client `east`"],
        ),
        ("schema merge east.description.json --fill middle", &["middle", "mean", "mode"]),
        ("schema merge east.description.json --unknown maybe", &["maybe", "error", "other"]),
        (
            "schema describe east.csv --label passed=1 --sensitive group --min-rows 0",
            &["--min-rows", "0"],
        ),
    ];
    for (command, says) in cases {
        let run = world.run(&format!("{command} -o OUT")).expect(2);
        assert_eq!(run.stdout, "", "{command}");
        run.says(says);
    }
    world
        .run("schema merge east.description.json -o east.description.json --force")
        .expect(2)
        .says(&["is an input"]);
    world.run("schema merge east.description.json -o schema.toml").expect(2).says(&["--force"]);
    assert_eq!(world.names(), before);
}
