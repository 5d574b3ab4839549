//! Proxies say who made them, with which schema and for which criterion, and commands notice when that is wrong.

use std::net::TcpListener;

use equipoise_data::{ProxyOrigin, read_proxy, write_proxy, write_proxy_of};
use serde_json::Value;

use crate::server::{Server, at, set_up, submit};
use crate::world::{CLIENTS, World};

/// A schema with the same columns and other encodings.
fn write_other_schema(world: &World) {
    let infer =
        "schema infer north.csv --label passed=1 --sensitive group=A --drop id -o other.toml";
    world.run(infer).expect(0);
    let names =
        |file: &str| equipoise_data::Schema::read(&world.path(file)).unwrap().encoded_names();
    assert_eq!(names("schema.toml"), names("other.toml"));
}

fn codes(warnings: &Value) -> Vec<&str> {
    warnings.as_array().unwrap().iter().filter_map(|warning| warning["code"].as_str()).collect()
}

#[test]
fn a_proxy_says_who_made_it_and_the_same_inputs_give_the_same_bytes() {
    let world = World::new();
    let proxy = "proxy north.csv --schema schema.toml --fairness eo";
    world.run(&format!("{proxy} -o north.parquet")).expect(0);
    world.run(&format!("{proxy} --threads 1 -o north2.parquet --client north")).expect(0);
    assert_eq!(
        std::fs::read(world.path("north.parquet")).unwrap(),
        std::fs::read(world.path("north2.parquet")).unwrap()
    );
    let origin = ProxyOrigin::read(&world.path("north.parquet")).unwrap();
    assert_eq!(origin.client.as_deref(), Some("north"));
    assert_eq!(origin.schema_sha256, Some(world.schema().digest()));
    assert_eq!(origin.fairness.unwrap().name(), "eo");

    world.run(&format!("{proxy} -o p.csv")).expect(0);
    let run = world.run(&format!("{proxy} -o q.csv --client north")).expect(2);
    run.says(&["--client", "q.csv", "CSV", ".parquet"]);
    assert!(!world.path("q.csv").exists());
    let long = "n".repeat(201);
    world.run(&format!("{proxy} -o q.parquet --client {long}")).expect(2).says(&["--client"]);
}

#[test]
fn raw_rows_say_whose_they_are_and_meet_no_criterion() {
    let world = World::new();
    world.run("proxy north.csv --schema schema.toml --generator raw").expect(0);
    std::fs::rename(world.path("north.raw.parquet"), world.path("north.parquet")).unwrap();
    let origin = ProxyOrigin::read(&world.path("north.parquet")).unwrap();
    assert_eq!(origin.client.as_deref(), Some("north"));
    assert_eq!(origin.schema_sha256, Some(world.schema().digest()));
    assert_eq!((origin.fairness, origin.raw_rows), (None, true));

    // Nothing listens: the rows are refused before any connection.
    let port = set_up(&world);
    let submit = format!("submit north.parquet --key north.key {} --retries 0", at(port));
    world.run(&submit).expect(2).says(&["real rows", "nothing was sent", "--raw-rows"]);
    // Other programs drop the metadata, and CSV has none, but the name says the same.
    let rows = read_proxy(world.path("north.parquet"), &world.schema()).unwrap();
    for name in ["north.raw.parquet", "north.raw.csv", "north.raw.csv.gz"] {
        write_proxy(&world.path(name), &rows, &world.schema(), false).unwrap();
        let run = world.run(&submit.replace("north.parquet", name)).expect(2);
        run.says(&[name, "real rows", "nothing was sent", "--raw-rows"]);
    }
    let server = Server::start(&world, port, "");
    let run = world.run(&format!("{submit} --raw-rows")).expect(0);
    assert!(run.stdout.contains("accepted"), "{}", run.stdout);
    drop(server);
}

#[test]
fn check_and_defend_refuse_another_schema_and_warn_of_another_criterion_or_client() {
    let world = World::with_proxies();
    write_other_schema(&world);
    let (own, other) = (world.schema().digest().to_string(), digest_of(&world, "other.toml"));
    let check = "check proxies/north.parquet --data north.csv --max-gap 0.5";
    let run = world.run(&format!("{check} --schema other.toml --fairness sp")).expect(2);
    run.says(&["proxies/north.parquet", &own, &other, "again"]);
    let run = world.run(&format!("{check} --schema schema.toml --fairness eo --json"));
    assert_eq!(codes(&run.json()["warnings"]), ["other-criterion"]);
    run.says(&["made for statistical parity", "--fairness eo"]);
    let run = world.run(&format!("{check} --schema schema.toml --fairness sp --json"));
    assert_eq!(codes(&run.json()["warnings"]), [""; 0]);

    let run = world
        .run("defend --proxies proxies --trusted roots --schema other.toml --fairness sp -o no")
        .expect(2);
    run.says(&["proxies/east.parquet", &own, &other]);
    assert!(!world.path("no").exists());

    // Two clients' files are swapped.
    for (from, to) in [("north", "spare"), ("east", "north"), ("spare", "east")] {
        let path = |name: &str| world.path(&format!("proxies/{name}.parquet"));
        std::fs::rename(path(from), path(to)).unwrap();
    }
    let run = world.defend("--fairness eo -o swapped");
    run.says(&["client `east`", "made by client `north`", "made for statistical parity"]);
    let outcome = world.json("swapped/outcome.json");
    let found = codes(&outcome["warnings"]);
    let count = |code: &str| found.iter().filter(|found| **found == code).count();
    assert_eq!((count("other-client"), count("other-criterion")), (2, 2), "{found:?}");
}

fn digest_of(world: &World, schema: &str) -> String {
    equipoise_data::Schema::read(&world.path(schema)).unwrap().digest().to_string()
}

#[test]
fn submit_sends_neither_another_clients_file_nor_one_of_another_schema() {
    let world = World::with_proxies();
    let port = set_up(&world);
    write_other_schema(&world);
    // Nothing listens yet: the name is checked before any connection.
    let run = world
        .run(&format!("submit proxies/east.parquet --key north.key {} --retries 0", at(port)))
        .expect(2);
    run.says(&["proxies/east.parquet", "`east`", "`north`", "Nothing was sent", "--client north"]);
    assert!(TcpListener::bind(("127.0.0.1", port)).is_ok());

    let server = Server::start(&world, port, "");
    let proxy = "proxy north.csv --schema other.toml --fairness sp -o mine/north.parquet";
    std::fs::create_dir(world.path("mine")).unwrap();
    world.run(proxy).expect(0);
    let submit_own = |more: &str| {
        let submit = "submit mine/north.parquet --key north.key --retries 0";
        world.run(&format!("{submit} {} {more}", at(port)))
    };
    let run = submit_own("").expect(2);
    run.says(&[
        "nothing was sent",
        &digest_of(&world, "other.toml"),
        &digest_of(&world, "schema.toml"),
    ]);
    let status = world.run(&format!("status {} --json", at(port))).expect(0).json();
    assert_eq!((&status["n_submissions"], status.get("refused")), (&Value::from(0), None));
    assert!(!world.path("spring-north.receipt.json").exists());

    // Another criterion is a warning: the coordinator may have changed it on purpose.
    world
        .run("proxy north.csv --schema schema.toml --fairness eo -o mine/north.parquet --force")
        .expect(0);
    submit_own("").expect(0).says(&["warning", "made for equal opportunity"]);

    // A file of another program says nothing, and a renamed one is still the client's.
    let rows = read_proxy(world.path("proxies/east.parquet"), &world.schema()).unwrap();
    write_proxy(&world.path("plain.parquet"), &rows, &world.schema(), false).unwrap();
    world.run(&format!("submit plain.parquet --key east.key {}", at(port))).expect(0);
    drop(server);
}

#[test]
fn the_server_ignores_what_a_file_says_about_itself() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    let schema = world.schema();
    let rows = read_proxy(world.path("proxies/north.parquet"), &schema).unwrap();
    write_proxy(&world.path("plain.csv"), &rows, &schema, false).unwrap();
    // Names that `proxy` would never write: eight megabytes, and an escape sequence.
    for (client, name) in [("north", "x".repeat(8 << 20)), ("east", "\u{1b}[31m\n".to_owned())] {
        let origin = ProxyOrigin { client: Some(name), ..ProxyOrigin::default() };
        let file = world.path(&format!("{client}.parquet"));
        write_proxy_of(&file, &rows, &schema, &origin, false).unwrap();
        world.run(&format!("submit {client}.parquet --key {client}.key {}", at(port))).expect(0);
    }
    world.run(&format!("submit plain.csv --key south.key {}", at(port))).expect(0);
    let digest = |client: &str| {
        let receipt = world.json(&format!("spring-{client}.receipt.json"));
        receipt["receipt"]["canonical_sha256"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest("north"), digest("south"));
    assert_eq!(digest("east"), digest("south"));
    drop(server);
}

#[test]
fn the_public_half_of_a_key_is_recognised() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let run =
        world.run(&format!("submit proxies/north.parquet --key north.pub {}", at(port))).expect(2);
    run.says(&["north.pub", "public half", "north.key"]);
}

#[test]
fn status_shows_the_coordinator_what_the_page_shows() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    submit(&world, "north", port).expect(0);
    // The same rows, sent by another client as CSV, which names nobody.
    let rows = read_proxy(world.path("proxies/north.parquet"), &world.schema()).unwrap();
    write_proxy(&world.path("copy.csv"), &rows, &world.schema(), false).unwrap();
    world.run(&format!("submit copy.csv --key east.key {}", at(port))).expect(0);
    world.write_encoded("east.csv", "second.csv");
    world.run(&format!("submit second.csv --key north.key {} --retries 0", at(port))).expect(2);

    let status = format!("status {} --token-file spring.token", at(port));
    let text = world.run(&status).expect(0).stdout;
    for part in [
        "statistical parity",
        "/rounds/spring",
        "same rows as north",
        "not yet",
        "already_submitted",
        "refused uploads",
        "valid",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let document = world.run(&format!("{status} --json")).expect(0).json();
    let client = |name: &str| {
        let clients = document["clients"].as_array().unwrap();
        clients.iter().find(|client| client["client"] == name).unwrap().clone()
    };
    assert_eq!(client("east")["notes"][0], "same rows as north");
    assert_eq!(client("north")["refused"][0]["code"], "already_submitted");
    assert!(client("north")["accepted_at"].is_string() && client("south")["accepted_at"].is_null());
    // The aligned table: every column starts where its header does.
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("client")).collect();
    let start = lines[0].find("key").unwrap();
    let key = |line: &str| line.chars().skip(start).take(5).collect::<String>();
    assert!(lines[1..4].iter().all(|line| key(line) == "valid"), "{text}");
    // Without the token, no names.
    let public = world.run(&format!("status {}", at(port))).expect(0).stdout;
    assert!(!public.contains("north"), "{public}");
    drop(server);
}

#[test]
fn a_round_for_an_impossible_address_creates_nothing() {
    let world = World::with_proxies();
    for client in CLIENTS {
        world.run(&format!("keygen {client}")).expect(0);
    }
    let new = "round new spring --data fresh --schema schema.toml --trusted roots --fairness sp \
               --client east=east.pub --client north=north.pub --client south=south.pub";
    world.write("spring.token", "older");
    let run = world.run(&format!("{new} --audience ftp://x")).expect(2);
    run.says(&["--audience", "ftp://x", "https://"]);
    assert!(!world.path("fresh").exists());
    // The problem of the round comes before that of the token file.
    let run = world.run(&format!("{new} --audience https://x --minimum 7")).expect(2);
    run.says(&["minimum number of submissions"]);
    let run = world.run(&format!("{new} --audience https://x --token-file none/t")).expect(2);
    run.says(&["none/t", "its folder does not exist"]);
    world
        .run(&format!("{new} --audience https://x"))
        .expect(2)
        .says(&["spring.token already exists"]);
    world.run(&format!("{new} --audience https://x --token-file t")).expect(0);
}
