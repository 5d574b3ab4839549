//! `verify` and `model`: what they prove, and that nothing is verified without a key to trust.

use std::os::unix::fs::PermissionsExt as _;

use crate::server::{Server, at, set_up, submit, wait_published};
use crate::world::{CLIENTS, World};

fn published() -> (World, u16, Server) {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    for client in CLIENTS {
        submit(&world, client, port).expect(0);
    }
    assert_eq!(wait_published(&world, port)["state"], "published");
    (world, port, server)
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

#[test]
fn without_a_key_nothing_is_verified_or_written() {
    let (world, port, _server) = published();
    let no_key = "not verified: no key to trust; pass --server-key";
    let run = world.run(&format!("model {} -o fetched", at(port))).expect(1);
    assert_eq!(last_line(&run.stdout), no_key);
    assert!(run.stdout.contains("ok  the statement's signature is valid"), "{}", run.stdout);
    run.says(&["nothing was written", "--unverified"]);
    assert!(!world.path("fetched").exists());

    // A receipt is signed, but it does not say whose key that is.
    let receipt = "--receipt spring-north.receipt.json";
    let run = world.run(&format!("model {} {receipt} -o fetched", at(port))).expect(1);
    assert_eq!(last_line(&run.stdout), no_key);

    let run = world.run(&format!("model {} --unverified -o kept", at(port))).expect(1);
    run.says(&["wrote kept, which is not verified"]);
    let verdict = world.run("verify kept --json").expect(1).json();
    assert_eq!((&verdict["verified"], &verdict["key_trusted"]), (&false.into(), &false.into()));
    assert_eq!(verdict["conclusion"], no_key);
    assert_eq!(verdict["solve_repeated"], false);

    let run = world.run("verify kept --server-key data/server.pub").expect(0);
    let last = last_line(&run.stdout);
    assert!(last.starts_with("verified: round spring of http://127.0.0.1:"), "{last}");
    assert!(
        last.contains("the solve was not repeated (`equipoise verify --solve` does that)"),
        "{last}"
    );
    assert!(last.ends_with("no receipt was compared (use --receipt)"), "{last}");
    let run = world.run(&format!("verify kept --server-key data/server.pub {receipt}")).expect(0);
    assert!(
        last_line(&run.stdout).ends_with("(`equipoise verify --solve` does that)"),
        "{}",
        run.stdout
    );
    world.run("verify kept --server-key north.pub").expect(1);

    // Anyone can send an auditor a receipt that claims to be pinned.
    let mut saved = world.json("spring-north.receipt.json");
    saved["server_key_pinned"] = true.into();
    world.write("pinned.receipt.json", &saved.to_string());
    for command in ["verify kept".to_owned(), format!("model {} -o fetched", at(port))] {
        let run = world.run(&format!("{command} --receipt pinned.receipt.json")).expect(1);
        assert!(run.stdout.contains("ok  the receipt kept by `north` matches"), "{}", run.stdout);
        assert_eq!(last_line(&run.stdout), no_key);
    }
}

#[test]
fn the_solve_is_repeated_from_exported_tables_while_the_server_runs() {
    let (world, port, _server) = published();
    let key = "--server-key data/server.pub";
    world.run(&format!("model {} {key} -o spring", at(port))).expect(0);
    let exported = world.run("round export --data data --round spring -o export --json").expect(0);
    assert_eq!(exported.json()["files"].as_array().unwrap().len(), 6);
    for (folder, mode) in [("export", 0o700), ("export/proxies", 0o700), ("export/roots", 0o700)] {
        let found = std::fs::metadata(world.path(folder)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{folder}");
    }
    for file in ["export/proxies/east.parquet", "export/roots/east.csv"] {
        let found = std::fs::metadata(world.path(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, 0o600, "{file}");
    }
    world.run("round export --data data --round spring -o export").expect(2).says(&["exists"]);
    world.run("round export --data data --round autumn -o other").expect(2).says(&["round"]);
    world
        .run("round export --data roots --round spring -o other")
        .expect(2)
        .says(&["equipoise.db"]);
    assert!(!world.path("other").exists());

    let solve = "--solve --proxies export/proxies --trusted export/roots";
    let run = world.run(&format!("verify spring {key} {solve}")).expect(0);
    assert!(run.stdout.contains("ok  the repeated solve gives the same model.json, bit for bit"));
    let last = last_line(&run.stdout);
    assert!(last.contains("by a repeated solve"), "{last}");
    // The coordinator's tables are not the files that clients sent: a CSV file, and Parquet files that say who made them.
    let not_checked = "the files of `east`, `north`, `south` were not checked against their tables (use --submitted)";
    assert!(last.contains(not_checked), "{last}");
    let submitted = "--submitted proxies/south.csv --submitted proxies/east.parquet --submitted proxies/north.parquet";
    let run = world.run(&format!("verify spring {key} {solve} {submitted}")).expect(0);
    assert!(!last_line(&run.stdout).contains("not checked"), "{}", run.stdout);
    // The clients' own files serve as well, and so does a single one without a solve.
    let own = "--solve --proxies proxies --trusted roots --threads 1";
    let run = world.run(&format!("verify spring {key} {own}")).expect(0);
    assert!(!last_line(&run.stdout).contains("not checked"), "{}", run.stdout);
    let run = world.run(&format!("verify spring {key} --submitted proxies/south.csv")).expect(0);
    assert!(run.stdout.contains("ok  the solver read exactly the rows that `south` submitted"));
    let run = world.run(&format!("verify spring {key} --submitted test.csv")).expect(1);
    assert!(run.stdout.contains("no submission has its SHA-256"), "{}", run.stdout);

    world.write("export/roots/north.csv", &world.read("roots/south.csv"));
    world.run(&format!("verify spring {key} {solve}")).expect(2).says(&[
        "the root of client `north`",
        "SHA-256",
        "export/roots/north.csv has",
    ]);
    std::fs::remove_file(world.path("export/proxies/east.parquet")).unwrap();
    world
        .run(&format!("verify spring {key} {solve}"))
        .expect(2)
        .says(&["the canonical table of client `east`", "round export"]);
    world.run(&format!("verify spring {key} --solve")).expect(2).says(&["--proxies", "--trusted"]);
    world.run(&format!("verify spring {key} --proxies proxies")).expect(2).says(&["--solve"]);
}

#[test]
fn an_open_round_is_not_exported() {
    let world = World::with_proxies();
    set_up(&world);
    world
        .run("round export --data data --round spring -o export")
        .expect(2)
        .says(&["round `spring` is open", "once it is closed"]);
    assert!(!world.path("export").exists());
}
