//! The demo: its output, and that its steps can be repeated by hand.

use equipoise_core::{Choice, Defense};
use serde_json::Value;

use crate::world::World;

/// `outcome.json` without what differs: only `defend` says when and by whom it was made.
fn lasting(mut outcome: Value) -> Value {
    outcome.as_object_mut().unwrap().remove("about");
    outcome
}

#[test]
fn every_step_can_be_repeated_by_hand_with_identical_results() {
    let world = World::new();
    let demo = world.run("demo --seed 3 --out demo --json --threads 2").expect(0).json();
    assert_eq!(demo["clients"].as_array().unwrap().len(), 5);
    assert_eq!(demo["defenses"].as_array().unwrap().len(), Defense::ALL.len());

    // The proxies and roots it wrote are those of the round it solved, with one thread or several.
    let inputs =
        "--proxies demo/proxies --trusted demo/trusted.csv --schema demo/schema.toml --fairness sp";
    for threads in [1, 2] {
        let folder = format!("again-{threads}");
        world.run(&format!("defend {inputs} --threads {threads} -o {folder}")).expect(0);
        let files =
            |at: &str| ["model.json", "weights.csv"].map(|f| world.read(&format!("{at}/{f}")));
        assert_eq!(files("demo/tilt"), files(&folder));
        let [first, second] =
            ["demo/tilt", &folder].map(|at| world.json(&format!("{at}/outcome.json")));
        assert_eq!(lasting(first), lasting(second));
    }

    // The reported metrics are those of its model on its test rows.
    let tilt = &demo["defenses"][0];
    assert_eq!(tilt["defense"], "tilt");
    let measured = world.run("evaluate demo/tilt/model.json demo/test.csv --json").expect(0).json();
    for key in ["rows", "accuracy", "balanced_accuracy", "auc", "gaps", "groups"] {
        assert_eq!(tilt[key], measured["metrics"][key], "{key}");
    }
}

#[test]
fn the_proxies_of_reliable_clients_are_fair_and_the_others_are_not() {
    for seed in 1..=5 {
        check_every_proxy(seed);
    }
}

fn check_every_proxy(seed: u64) {
    let world = World::new();
    let demo = world.run(&format!("demo --seed {seed} --out demo --json")).expect(0).json();
    for client in demo["clients"].as_array().unwrap() {
        let id = client["id"].as_str().unwrap();
        let fair = client["reliable"].as_bool().unwrap();
        let check = format!(
            "check demo/proxies/{id}.parquet --data demo/data/{id}.csv --schema demo/schema.toml \
             --fairness sp --max-gap 0.05"
        );
        world.run(&check).expect(i32::from(!fair));
    }
}

#[test]
fn rejects_invalid_options_and_existing_folders() {
    let world = World::new();
    world.run("demo --clients 1 --out x").expect(2);
    world.run("demo --unreliable 1.5 --out x").expect(2);
    assert!(!world.path("x").exists());
    std::fs::create_dir(world.path("mine")).unwrap();
    world.write("mine/letter.txt", "keep me");
    world.run("demo --out mine").expect(2);
    world.run("demo --out mine --force").expect(2);
    assert_eq!(world.read("mine/letter.txt"), "keep me");
}
