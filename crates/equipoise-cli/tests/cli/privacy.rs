//! Differentially private proxies say what they promise, from the file to the report; and `privacy` finds what a proxy
//! discloses.

use equipoise_data::ProxyOrigin;

use crate::server::{Server, at, set_up, wait_published};
use crate::world::{CLIENTS, Random, World, table};

const PROXY: &str = "proxy data.csv --schema schema.toml --fairness sp";

#[test]
fn a_private_proxy_says_so_and_never_repeats_its_noise() {
    let world = World::new();
    let run = world.run(&format!("{PROXY} --dp-epsilon 3 -o a.parquet --json")).expect(0);
    let promised = &run.json()["privacy"];
    assert!(promised["epsilon"].as_f64().unwrap() <= 3.0 && promised["private"] == true);
    assert_eq!(promised["delta"], 1e-6);
    let stored = ProxyOrigin::read(&world.path("a.parquet")).unwrap().privacy.unwrap();
    assert_eq!(serde_json::to_value(&stored).unwrap(), *promised);
    world.run(&format!("{PROXY} --dp-epsilon 3 -o b.parquet")).expect(0);
    let read = |name: &str| std::fs::read(world.path(name)).unwrap();
    assert_ne!(read("a.parquet"), read("b.parquet"));
    let text = world.run(&format!("{PROXY} --dp-epsilon 3 -o c.parquet")).expect(0).stdout;
    assert!(text.contains("Differential privacy with ε = "), "{text}");
}

#[test]
fn a_test_run_can_be_repeated_and_is_marked() {
    let world = World::new();
    let test = format!("{PROXY} --dp-epsilon 3 --dp-test-seed 5");
    let run = world.run(&format!("{test} -o t.parquet --json")).expect(0);
    assert_eq!(run.json()["privacy"]["private"], false);
    run.says(&["not private"]);
    world.run(&format!("{test} --threads 1 -o u.parquet --client t")).expect(0);
    let read = |name: &str| std::fs::read(world.path(name)).unwrap();
    assert_eq!(read("t.parquet"), read("u.parquet"));
    let run = world.run("privacy t.parquet --data data.csv --schema schema.toml").expect(1);
    assert!(run.stdout.contains("PROBLEM  The file was made in a test run"), "{}", run.stdout);
}

#[test]
fn options_that_contradict_privacy_are_refused() {
    let world = World::new();
    for (more, says) in [
        ("--dp-epsilon 0", "--dp-epsilon must be above 0"),
        ("--dp-epsilon -1", "--dp-epsilon must be above 0"),
        ("--dp-epsilon 1 --dp-delta 1", "--dp-delta must be between"),
        ("--dp-epsilon 1 --seed 2", "--dp-test-seed"),
        ("--dp-epsilon 1 --generator paper", "--generator thresholds"),
        ("--dp-epsilon 1 --init data", "--init data"),
        ("--dp-delta 1e-6", "--dp-epsilon"),
    ] {
        let run = world.run(&format!("{PROXY} {more} -o no.parquet")).expect(2);
        assert!(run.stderr.contains(says), "{more}: {}", run.stderr);
        assert!(!world.path("no.parquet").exists());
    }
}

#[test]
fn the_coordinator_sees_what_each_client_declares() {
    let world = World::new();
    for client in CLIENTS {
        let how = match client {
            "east" => "--dp-epsilon 20",
            "north" => "--rows 40",
            _ => "",
        };
        world
            .run(&format!(
                "proxy {client}.csv --schema schema.toml --fairness sp {how} -o proxies/{client}.parquet"
            ))
            .expect(0);
    }
    world.defend("--fairness sp -o out").expect(0);
    let declared = |outcome: &serde_json::Value| -> Vec<bool> {
        let clients = outcome["clients"].as_array().unwrap();
        clients.iter().map(|client| client["audit"]["privacy"].is_object()).collect()
    };
    let outcome = world.json("out/outcome.json");
    assert_eq!(declared(&outcome), [true, false, false]);
    assert_eq!(outcome["clients"][1]["proxy_rows"], 40);
    let page = world.read("out/report.html");
    assert!(page.contains("differential privacy with ε = "));

    // Through a server, which stores its own copy of the rows.
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    for client in CLIENTS {
        let submit = format!("submit proxies/{client}.parquet --key {client}.key {}", at(port));
        world.run(&submit).expect(0);
    }
    assert_eq!(wait_published(&world, port)["state"], "published");
    let fetched = "--server-key data/server.pub --receipt spring-north.receipt.json -o fetched";
    world.run(&format!("model {} {fetched}", at(port))).expect(0);
    drop(server);
    let fetched = world.json("fetched/outcome.json");
    assert_eq!(declared(&fetched), [true, false, false]);
    assert_eq!(fetched["theta"], outcome["theta"]);
}

#[test]
fn privacy_finds_copies_and_accepts_a_proxy() {
    let world = World::new();
    world.write("own.csv", &table(&Random(3).rows(1500, 1.0)));
    world.write("others.csv", &table(&Random(4).rows(1500, 1.0)));
    let own = "--schema schema.toml --fairness sp";
    world.run(&format!("proxy own.csv {own} -o fair.parquet")).expect(0);
    world.run("proxy own.csv --schema schema.toml --generator raw -o raw.parquet").expect(0);
    let check = "--data own.csv --schema schema.toml --json";
    for more in ["", "--others others.csv"] {
        let fair = world.run(&format!("privacy fair.parquet {check} {more}")).expect(0).json();
        assert_eq!(fair["problem"], false);
        assert!(fair["membership"][0]["auc"]["value"].as_f64().unwrap() < 0.55);
        let raw = world.run(&format!("privacy raw.parquet {check} {more}")).expect(1).json();
        assert_eq!(raw["problem"], true);
        assert!(raw["membership"][0]["auc"]["value"].as_f64().unwrap() > 0.8);
    }
    // Raw rows say what they are.
    assert!(ProxyOrigin::read(&world.path("raw.parquet")).unwrap().raw_rows);
    let few = world.run("privacy fair.parquet --data north.csv --schema schema.toml").expect(1);
    assert!(few.stdout.contains("fewer than 500"), "{}", few.stdout);
}
