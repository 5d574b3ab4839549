//! What `proxy` promises: the rates of its model, and that the file stands for exactly that model.

use serde_json::Value;

use crate::world::{World, table};

fn proxy(world: &World, data: &str, more: &str) -> Value {
    let run = world.run(&format!("proxy {data} --schema schema.toml --json --force {more}"));
    serde_json::from_str(&run.expect(0).stdout).unwrap()
}

/// Rows that the proxy's model selects on the client's data, and rows with a positive label.
fn selected_and_positive(document: &Value) -> (f64, f64) {
    let groups = document["proxy_model"]["groups"].as_array().unwrap();
    let sum = |key: &str| groups.iter().map(|group| group[key].as_f64().unwrap()).sum();
    (sum("selected"), sum("positives"))
}

#[test]
fn the_share_selected_is_kept_or_moves_to_that_of_the_labels() {
    let world = World::new();
    // A quarter of the positive rows: a model then selects fewer rows than have a positive label. Three times each, so that
    // the difference is more than rounding.
    let text = world.read("data.csv");
    let (positive, negative): (Vec<&str>, Vec<&str>) =
        text.lines().skip(1).partition(|row| row.ends_with(",1"));
    let rare: Vec<&str> = positive.into_iter().step_by(4).chain(negative).collect();
    let rare: Vec<String> = rare.repeat(3).into_iter().map(String::from).collect();
    world.write("rare.csv", &table(&rare));
    let proxy = |more: &str| proxy(&world, "rare.csv", more);
    let kept = proxy("--fairness sp -o default.csv");
    proxy("--fairness sp --rate kept -o kept.csv");
    assert_eq!(world.read("default.csv"), world.read("kept.csv"));
    let labels = proxy("--fairness sp --rate labels -o labels.csv");
    let halfway = proxy("--fairness sp --rate 0.5 -o halfway.csv");
    assert_eq!(halfway["towards_label_rate"], 0.5);

    let (n_kept, positive) = selected_and_positive(&kept);
    assert!((n_kept - positive).abs() > 5.0, "{n_kept}, {positive}");
    // The rate of each group is exact up to half a row, and a little of the gap remains.
    let (n_labels, n_halfway) =
        (selected_and_positive(&labels).0, selected_and_positive(&halfway).0);
    assert!((n_labels - positive).abs() <= 2.0, "{n_labels}, {positive}");
    assert!((n_halfway - 0.5 * (n_kept + positive)).abs() <= 2.0, "{n_halfway}");
}

#[test]
fn rejects_rates_that_mean_nothing() {
    let world = World::new();
    let data = "proxy data.csv --schema schema.toml --fairness sp -o p.csv";
    for rate in ["2", "-0.5", "label"] {
        let run = world.run(&format!("{data} --rate {rate}")).expect(2);
        run.says(&["--rate", "`kept`, `labels`, or a number between 0 (kept) and 1 (labels)"]);
    }
    let run = world.run(&format!("{data} --rate 0.5 --epsilon 0.1")).expect(2);
    run.says(&["--rate needs --generator thresholds"]);
}

#[test]
fn the_model_of_the_file_is_the_target_and_has_the_promised_gap() {
    let world = World::new();
    for fairness in ["sp", "eo", "fpr", "equalized-odds"] {
        for file in ["p.csv", "p.parquet"] {
            let made = proxy(&world, "data.csv", &format!("--fairness {fairness} -o {file}"));
            assert!(made["target_error"].as_f64().unwrap() <= 1e-6, "{fairness}: {made}");
            let check = format!(
                "check {file} --data data.csv --schema schema.toml --fairness {fairness} --max-gap 1 --json"
            );
            let run = world.run(&check).expect(0);
            let checked: Value = serde_json::from_str(&run.stdout).unwrap();
            // `check` refits the model from the file.
            let gap = |document: &Value| document["gap"].as_f64().unwrap();
            assert!((gap(&made) - gap(&checked)).abs() < 0.002, "{fairness}, {file}");
            assert_eq!(made["proxy_model"], checked["proxy_model"], "{fairness}, {file}");
        }
    }
}

#[test]
fn a_proxy_of_few_rows_is_small_and_has_the_same_model() {
    let world = World::new();
    let whole = proxy(&world, "data.csv", "--fairness sp -o whole.csv");
    let few = proxy(&world, "data.csv", "--fairness sp --rows 60 -o few.csv");
    assert_eq!(few["rows"], 60);
    assert_eq!(world.read("few.csv").lines().count(), 61);
    assert!(few["target_error"].as_f64().unwrap() <= 1e-6, "{few}");
    assert_eq!(few["promised_gap"], whole["promised_gap"]);
    assert_eq!(few["proxy_model"]["accuracy"], whole["proxy_model"]["accuracy"]);
    let data = "proxy data.csv --schema schema.toml --fairness sp -o p.csv";
    world.run(&format!("{data} --rows 3")).expect(2).says(&["--rows", "at least"]);
}

#[test]
fn a_transformed_proxy_is_fairer_and_knows_no_other_criterion() {
    let world = World::new();
    let options = |file: &str| format!("--fairness sp --generator transformation -o {file}");
    let made = proxy(&world, "data.csv", &options("p.csv"));
    let gap = |model: &str| made[model]["gaps"]["sp"]["value"].as_f64().unwrap().abs();
    assert!(gap("proxy_model") < gap("data_model"), "{made}");
    let again = proxy(&world, "data.csv", &options("again.csv"));
    assert_eq!(world.read("p.csv"), world.read("again.csv"));
    assert_eq!(made["theta"], again["theta"]);
    let other = "proxy data.csv --schema schema.toml --fairness eo --generator transformation";
    world.run(&format!("{other} -o other.csv")).expect(2).says(&["choose the fairness sp"]);
}

/// Most rows of a table of categories have a twin, which sampled rows cannot have.
#[test]
fn only_extreme_values_make_a_proxy_unlike_its_data() {
    let world = World::new();
    let mut lines = vec!["passed,group,a,b,c,income".to_owned()];
    for i in 0..900 {
        let level = |step: usize, n: usize| i / step % n;
        let passed = u8::from((i * 7 + level(2, 3) * 300) % 1000 > 450);
        let [a, b, c] = [level(2, 3), level(6, 4), level(24, 2)];
        lines.push(format!("{passed},{},a{a},b{b},c{c},1", if i % 2 == 0 { "A" } else { "B" }));
    }
    let finding = |lines: &[String]| {
        world.write("own.csv", &(lines.join("\n") + "\n"));
        world
            .run("schema infer own.csv --label passed=1 --sensitive group=A -o schema.toml --force")
            .expect(0);
        let made = proxy(&world, "own.csv", "--fairness sp -o p.parquet");
        (made["closeness"].clone(), made["closeness_finding"].clone())
    };
    let (distances, found) = finding(&lines);
    assert_eq!(distances["data_to_data"]["median"], 0.0);
    assert_eq!(found, "no-problem", "{distances}");
    // Of each of six amounts, two in 900 are so extreme that sampled amounts lie far from all real ones.
    lines = vec!["passed,group,u,v,w,x,y,z".to_owned()];
    for i in 0..900 {
        let amounts: Vec<String> = (0..6)
            .map(|column| if i % 450 == column { 1_000_000 } else { i % 40 })
            .map(|amount| amount.to_string())
            .collect();
        let group = if i % 2 == 0 { "A" } else { "B" };
        lines.push(format!("{},{group},{}", i * 7 % 10 / 5, amounts.join(",")));
    }
    let (distances, found) = finding(&lines);
    assert_eq!(found, "unlike-data", "{distances}");
}
