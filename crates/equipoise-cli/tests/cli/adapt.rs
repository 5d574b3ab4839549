//! `adapt`: a client compares the published model with its own, and writes the one to use.

use crate::world::{Random, World, table};

fn world() -> World {
    let world = World::with_proxies();
    world.defend("--fairness sp --defense pooled -o out --quiet").expect(0);
    world
}

#[test]
fn the_table_is_printed_and_the_recommended_model_written() {
    let world = world();
    let run = world.run("adapt out/model.json east.csv").expect(0);
    for text in [
        "gap in selection rate",
        "\nglobal ",
        "\nadapted ",
        "\nown ",
        "\nrecommended: ",
        "five folds",
    ] {
        assert!(run.stdout.contains(text), "no {text:?} in {}", run.stdout);
    }
    let names = world.names();
    let command = "adapt out/model.json east.csv --json -o my-model.json";
    let document = world.run(command).expect(0).json();
    assert_eq!(document["chosen"], document["recommended"]);
    assert_eq!(world.names().len(), names.len() + 1);
    world.run("evaluate my-model.json test.csv").expect(0);
    world.run(command).expect(2).says(&["already exists"]);
    world.run(&format!("{command} --force")).expect(0);
    world
        .run("adapt out/model.json east.csv -o out/model.json --force")
        .expect(2)
        .says(&["is an input of this command"]);
}

#[test]
fn any_of_the_models_can_be_written_and_adapting_moves_thresholds_only() {
    let world = world();
    let theta = |name: &str| -> Vec<f64> {
        let command =
            format!("adapt out/model.json east.csv --choose {name} -o {name}.json --json");
        let document = world.run(&command).expect(0).json();
        assert_eq!(document["chosen"], name);
        let values = world.json(&format!("{name}.json"));
        values["theta"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let (global, adapted, own) = (theta("global"), theta("adapted"), theta("own"));
    assert_eq!(world.read("global.json"), world.read("out/model.json"));
    let moved: Vec<usize> = (0..global.len()).filter(|&j| global[j] != adapted[j]).collect();
    let features = &world.json("out/model.json")["features"];
    assert_eq!(features[6], "(intercept)");
    assert_eq!(moved, [5, 6], "the group and the intercept");
    assert!(own.iter().zip(&global).all(|(a, b)| a != b));
    world.run("adapt out/model.json east.csv --choose best").expect(2).says(&["global"]);
}

#[test]
fn the_own_model_is_that_of_the_proxy_if_it_is_given() {
    let world = world();
    let own = |more: &str| {
        let command =
            format!("adapt out/model.json east.csv --choose own --force -o own.json {more}");
        world.run(&command).expect(0);
        world.read("own.json")
    };
    let (of_rows, of_proxy) = (own(""), own("--proxy proxies/east.parquet"));
    assert_ne!(of_rows, of_proxy);
    world.run("proxy east.csv --schema schema.toml --fairness eo -o eo.parquet").expect(0);
    world
        .run("adapt out/model.json east.csv --proxy eo.parquet")
        .expect(0)
        .says(&["the proxy was made for equal opportunity"]);
    world.run("adapt out/model.json east.csv --proxy east.csv").expect(2).says(&["east.csv"]);
}

#[test]
fn rows_that_cannot_be_judged_are_refused_with_the_reason() {
    let world = world();
    let rows = Random(3).rows(200, 1.0);
    let refuse = |keep: &dyn Fn(&str) -> bool, says: &[&str]| {
        let kept: Vec<String> = rows.iter().filter(|row| keep(row)).cloned().collect();
        world.write("some.csv", &table(&kept));
        world.run("adapt out/model.json some.csv").expect(2).says(says);
    };
    refuse(&|row| row.ends_with(",1"), &["some.csv: all labels are the same"]);
    refuse(&|row| row.contains(",A,"), &["some.csv: all", "in the group"]);
    refuse(&|_| false, &["some.csv: "]);
    refuse(
        &|row| row.split(',').next().unwrap().parse::<usize>().unwrap() < 8,
        &["at least 5 rows of each label"],
    );
    world.write("wrong.csv", "a,b\n1,2\n");
    world.run("adapt out/model.json wrong.csv").expect(2).says(&["wrong.csv", "column"]);
    world.write("nan.csv", &table(&rows).replacen("\n0,", "\n0,NaN", 1));
    world.run("adapt out/model.json nan.csv").expect(2).says(&["nan.csv", "score"]);
}

#[test]
fn a_model_without_an_intercept_says_what_to_do() {
    let world = World::new();
    let schema = world.read("schema.toml");
    assert!(schema.contains("intercept = true"), "{schema}");
    world.write("schema.toml", &schema.replace("intercept = true", "intercept = false"));
    for client in ["east", "north", "south"] {
        let options = "--schema schema.toml --fairness sp";
        world.run(&format!("proxy {client}.csv {options} -o proxies/{client}.parquet")).expect(0);
    }
    world.defend("--fairness sp --defense pooled -o out --quiet").expect(0);
    world
        .run("adapt out/model.json east.csv")
        .expect(2)
        .says(&["error: the model has no intercept", "`intercept = true`"]);
}
