//! The demo: what it writes, what it says, and that its steps can be done again by hand.

use equipoise_core::{Choice, Defense};

use crate::world::World;

/// `outcome.json` up to its timing, which stands last.
fn without_seconds(text: &str) -> &str {
    text.split_once("\n  \"seconds\": ").unwrap().0
}

#[test]
fn every_step_of_the_demo_can_be_done_again_by_hand_to_the_bit() {
    let world = World::new();
    let said = world.run("demo --seed 3 --out demo --json --threads 2").expect(0).json();
    assert_eq!(said["clients"].as_array().unwrap().len(), 5);
    assert_eq!(said["defenses"].as_array().unwrap().len(), Defense::ALL.len());

    // The proxies and roots that it wrote are the round that it solved, in parallel passes too.
    let inputs = "--proxies demo/proxies --root demo/root --schema demo/schema.toml --fairness sp";
    for threads in [1, 2] {
        let folder = format!("again-{threads}");
        world.run(&format!("defend {inputs} --threads {threads} -o {folder}")).expect(0);
        let files =
            |at: &str| ["model.json", "weights.csv"].map(|f| world.read(&format!("{at}/{f}")));
        assert_eq!(files("demo/bilevel"), files(&folder));
        let (first, second) = (
            world.read("demo/bilevel/outcome.json"),
            world.read(&format!("{folder}/outcome.json")),
        );
        assert_eq!(without_seconds(&first), without_seconds(&second));
    }

    // The figures that it gave are those of its model on its test rows.
    let bilevel = &said["defenses"][0];
    assert_eq!(bilevel["defense"], "bilevel");
    let measured =
        world.run("evaluate demo/bilevel/model.json demo/test.csv --json").expect(0).json();
    for key in ["rows", "accuracy", "balanced_accuracy", "auc", "spd", "eod", "groups"] {
        assert_eq!(bilevel[key], measured[key], "{key}");
    }
}

#[test]
fn a_reliable_clients_proxy_is_fair_and_an_unreliable_ones_is_not() {
    for seed in 1..=5 {
        check_every_proxy(seed);
    }
}

fn check_every_proxy(seed: u64) {
    let world = World::new();
    let said = world.run(&format!("demo --seed {seed} --out demo --json")).expect(0).json();
    for client in said["clients"].as_array().unwrap() {
        let id = client["id"].as_str().unwrap();
        let fair = client["reliable"].as_bool().unwrap();
        let check = format!(
            "check demo/proxies/{id}.parquet --data demo/data/{id}.csv --schema demo/schema.toml \
             --fairness sp --epsilon 0.01"
        );
        world.run(&check).expect(i32::from(!fair));
    }
}

#[test]
fn the_demo_refuses_what_it_cannot_do_and_a_folder_that_is_there() {
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
