//! One backup is restored twice, and the two servers show different histories: `audit --compare` detects the fork.

use equipoise_server::protocol::{
    Digest, LogHead, PrivateKey, RoundHead, ServerHead, SignedServerHead,
};
use serde_json::Value;

use crate::server::{Server, at, set_up, submit, wait_published};
use crate::world::{Run, World};

/// A world with two forks of one round, which differ in the submission of `south`.
///
/// | file | content |
/// | --- | --- |
/// | `before.head.json` | the server-wide log before the fork |
/// | `one`, `two` | the published files of each fork |
/// | `one.head.json`, `two.head.json` | the server-wide log of each fork |
/// | `one.receipt.json`, `two.receipt.json` | the receipt of `south` in each fork |
fn forked() -> World {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    submit(&world, "north", port).expect(0);
    submit(&world, "east", port).expect(0);
    fetch_head(&world, port, "before");
    world.run("round backup data -o backup").expect(0);
    server.kill();
    std::fs::rename(world.path("data"), world.path("original")).unwrap();
    // Another file for the second fork: one row less.
    let south = world.read("proxies/south.csv");
    let shorter = &south[..south.trim_end().rfind('\n').unwrap() + 1];
    for (fork, file) in [("one", south.as_str()), ("two", shorter)] {
        world.run("round restore backup --data data").expect(0);
        let server = Server::start(&world, port, "");
        world.write("south.csv", file);
        let receipt = format!("--receipt {fork}.receipt.json --server-key data/server.pub");
        world.run(&format!("submit south.csv --key south.key {} {receipt}", at(port))).expect(0);
        assert_eq!(wait_published(&world, port)["state"], "published");
        let key = "--server-key data/server.pub";
        world.run(&format!("model {} {key} -o {fork}", at(port))).expect(0);
        fetch_head(&world, port, fork);
        server.kill();
        std::fs::remove_dir_all(world.path("data")).unwrap();
    }
    world
}

fn fetch_head(world: &World, port: u16, name: &str) {
    let server = format!("--server http://127.0.0.1:{port} --server-key data/server.pub");
    world.run(&format!("head {server} -o {name}.head.json")).expect(0);
}

fn compare(world: &World, a: &str, b: &str) -> Run {
    world.run(&format!("audit --compare {a} {b}"))
}

/// Writes a part of a JSON document to another file.
fn without(world: &World, from: &str, key: &str, to: &str) {
    let mut document = world.json(from);
    document.as_object_mut().unwrap().remove(key);
    world.write(to, &document.to_string());
}

#[test]
fn two_forks_of_one_backup_are_detected_and_the_first_difference_is_named() {
    let world = forked();
    let models = ["one/model.json", "two/model.json"].map(|file| world.read(file));
    assert_ne!(models[0], models[1], "the forks have different models");

    // Both forks are valid on their own.
    for fork in ["one", "two"] {
        let trust = "--server-key original/server.pub --receipt spring-north.receipt.json";
        world.run(&format!("verify {fork} {trust}")).expect(0);
    }
    let fork = compare(&world, "one", "two").expect(1).stdout;
    for part in [
        "FORK: A and B show different histories of round `spring`",
        "The first difference:\n  A  event 5: ",
        "\n  B  event 5: ",
        "accepted from south: 130 rows",
        "accepted from south: 129 rows",
        "equivocation",
        "  one/audit.jsonl\n  one/audit-head.json\n  two/audit.jsonl\n  two/audit-head.json\n",
    ] {
        assert!(fork.contains(part), "no {part:?} in {fork}");
    }

    // What contradicts what, and which files prove it.
    let forks = [
        ("one.receipt.json", "two.receipt.json", "round `spring`", 5, 2),
        ("one.receipt.json", "two", "round `spring`", 5, 3),
        ("two", "one.receipt.json", "round `spring`", 5, 3),
        ("one.head.json", "two.head.json", "round `spring`", 5, 2),
        ("one.head.json", "two", "round `spring`", 5, 3),
        ("one.head.json", "two.receipt.json", "round `spring`", 5, 2),
        ("one/audit-head.json", "two/audit-head.json", "round `spring`", 8, 2),
        ("one/audit-head.json", "two", "round `spring`", 8, 3),
        ("one/statement.json", "two/statement.json", "round `spring`", 7, 2),
        ("one/audit.jsonl", "two/audit.jsonl", "round `spring`", 5, 0),
        ("one/audit.jsonl", "two", "round `spring`", 5, 0),
    ];
    for (a, b, log, position, n_files) in forks {
        let run = world.run(&format!("audit --compare {a} {b} --json")).expect(1).json();
        let found = (run["verdict"].as_str(), run["log"].as_str(), run["position"].as_u64());
        assert_eq!(found, (Some("fork"), Some(log), Some(position)), "{a} {b}: {run}");
        assert_eq!(run["proof"].as_array().unwrap().len(), n_files, "{a} {b}: {run}");
    }
    let unsigned = compare(&world, "one/audit.jsonl", "two/audit.jsonl").expect(1).stdout;
    assert!(unsigned.contains("is not signed by the server"), "{unsigned}");

    // The server-wide logs alone, as the server sends them.
    for fork in ["one", "two"] {
        let log = lines(&world.json(&format!("{fork}.head.json"))["log"]);
        world.write(&format!("{fork}.log"), &log);
    }
    let fork = compare(&world, "one.log", "two.log").expect(1).stdout;
    assert!(fork.contains("event 5"), "{fork}");
}

/// A log as JSON lines, as the server sends it.
fn lines(log: &Value) -> String {
    // `previous` comes before `round` in a line, but not in a sorted map.
    let entry = |entry: &Value| {
        format!(
            r#"{{"n":{},"previous":{},"round":{},"seq":{},"event":{}}}"#,
            entry["n"], entry["previous"], entry["round"], entry["seq"], entry["event"]
        )
    };
    log.as_array().unwrap().iter().map(|line| entry(line) + "\n").collect()
}

#[test]
fn consistent_documents_are_told_apart_from_those_that_cannot_be_compared() {
    let world = forked();
    without(&world, "before.head.json", "log", "before.short.json");
    without(&world, "one.head.json", "log", "one.short.json");
    let log = world.read("one/audit.jsonl");
    let beginning: Vec<&str> = log.lines().take(6).collect();
    world.write("beginning.jsonl", &(beginning.join("\n") + "\n"));
    for (a, b, expected) in [
        ("one", "one", "the same history"),
        ("one.head.json", "one.head.json", "the same history"),
        ("one/audit-head.json", "one", "the same history"),
        ("one", "one.head.json", "the same history"),
        ("one.receipt.json", "one", "A is the beginning of B"),
        ("one", "one.receipt.json", "B is the beginning of A"),
        ("spring-north.receipt.json", "one", "A is the beginning of B"),
        ("spring-north.receipt.json", "two", "A is the beginning of B"),
        ("spring-north.receipt.json", "two.head.json", "A is the beginning of B"),
        ("before.head.json", "one.head.json", "A is the beginning of B"),
        ("before.head.json", "two.head.json", "A is the beginning of B"),
        ("before.short.json", "two.head.json", "A is the beginning of B"),
        ("before.head.json", "two", "A is the beginning of B"),
        ("beginning.jsonl", "one", "A is the beginning of B"),
        ("one/statement.json", "one", "A is the beginning of B"),
    ] {
        let run = compare(&world, a, b).expect(0).stdout;
        assert_eq!(run, format!("consistent: {expected}\n"), "{a} {b}");
    }
    // A round that has ended has no further events.
    let fork = compare(&world, "beginning.jsonl", "two").expect(1).stdout;
    assert!(fork.contains("event 5"), "{fork}");

    let other = World::new();
    let port = set_up(&other);
    let server = Server::start(&other, port, "");
    fetch_head(&other, port, "other");
    drop(server);
    std::fs::copy(other.path("other.head.json"), world.path("other.head.json")).unwrap();
    let cannot = [
        ("before.short.json", "one.short.json", "neither contains the log up to there"),
        ("spring-north.receipt.json", "one.receipt.json", "A ends at position 3 and B at 5"),
        ("one.head.json", "other.head.json", "A is from the server with the key"),
        ("one.receipt.json", "schema.toml", "is not a receipt, a head, a statement or a log"),
        ("one", "proxies", "is not a folder of published files: it has no audit.jsonl"),
        ("one", "missing", "missing: cannot be read"),
    ];
    for (a, b, problem) in cannot {
        compare(&world, a, b).expect(2).says(&[problem]);
    }
    let key = "--server-key north.pub";
    let run = world.run(&format!("audit --compare one two {key}")).expect(2);
    run.says(&["one: is not from the server with the key in --server-key"]);
    world.run("audit --compare one two --server-key original/server.pub").expect(1);

    // Changed files are not evidence of anything.
    for (file, from, to) in [
        ("one.receipt.json", "\"rows\": 130", "\"rows\": 131"),
        ("one.head.json", "\"n\": 8", "\"n\": 9"),
        ("one/audit-head.json", "\"seq\": 8", "\"seq\": 7"),
    ] {
        let changed = world.read(file).replacen(from, to, 1);
        assert_ne!(changed, world.read(file), "{file}");
        world.write("changed.json", &changed);
        compare(&world, "changed.json", "two").expect(2).says(&["signature"]);
    }
    let changed = log.replacen("\"rows\":130", "\"rows\":131", 1);
    world.write("one/audit.jsonl", &changed);
    compare(&world, "one", "two").expect(2).says(&["line 6 of the audit log"]);
}

#[test]
fn a_second_receipt_never_overwrites_a_different_first_one() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");
    world.run("round backup data -o backup").expect(0);
    submit(&world, "north", port).expect(0);
    let first = world.read("spring-north.receipt.json");
    submit(&world, "north", port).expect(0);
    assert_eq!(world.read("spring-north.receipt.json"), first);
    server.kill();

    // The operator restores a backup without the submission, and the client submits again.
    std::fs::remove_dir_all(world.path("data")).unwrap();
    world.run("round restore backup --data data").expect(0);
    let _server = Server::start(&world, port, "");
    submit(&world, "east", port).expect(0);
    submit(&world, "north", port)
        .expect(0)
        .says(&["warning: spring-north.receipt.json", "Keep both"]);
    assert_eq!(world.read("spring-north.receipt.json"), first);
    let fork = compare(&world, "spring-north.receipt.json", "spring-north.receipt.2.json");
    let fork = fork.expect(1).stdout;
    assert!(fork.contains("equivocation") && fork.contains("They differ here"), "{fork}");
}

/// The key of a server that signs whatever it is asked to.
fn hostile_key() -> PrivateKey {
    PrivateKey::from_seed("server".parse().unwrap(), [7; 32])
}

/// A server-wide head without its log: its length, and the last event of each round.
fn write_head(world: &World, file: &str, n: u64, rounds: &[(&str, u64)]) {
    let digest = |log: &str, position: u64| Digest::of(format!("{log} {position}").as_bytes());
    let round = |(name, seq): &(&str, u64)| RoundHead {
        round: name.parse().unwrap(),
        seq: *seq,
        chain_head: digest(name, *seq),
    };
    let head = ServerHead {
        n,
        head: digest("server", n),
        at: "2027-03-01T12:00:00Z".parse().unwrap(),
        rounds: rounds.iter().map(round).collect(),
    };
    world.write(file, &serde_json::to_string(&head.sign(&hostile_key())).unwrap());
}

#[test]
fn logs_that_cannot_be_compared_are_named_even_if_others_agree() {
    let world = World::new();
    write_head(&world, "a.json", 9, &[("autumn", 3), ("spring", 6)]);
    write_head(&world, "b.json", 11, &[("autumn", 5), ("spring", 6)]);
    write_head(&world, "c.json", 9, &[("autumn", 3), ("spring", 6)]);
    assert_eq!(
        compare(&world, "a.json", "c.json").expect(0).stdout,
        "consistent: the same history\n"
    );
    // Only `spring` is known to agree.
    let run = compare(&world, "a.json", "b.json").expect(2);
    assert_eq!(run.stdout, "");
    run.says(&[
        "A and B cannot be compared completely",
        "round `spring` agrees",
        "could not be compared: round `autumn` (A ends at position 3 and B at 5",
        "the server-wide log (A ends at position 9 and B at 11",
        "`equipoise head`",
    ]);
    // A fork is a fork, whatever else cannot be compared.
    let head: SignedServerHead = serde_json::from_value(world.json("b.json")).unwrap();
    let mut head = head.head;
    head.rounds[1].chain_head = Digest::of(b"another history");
    world.write("d.json", &serde_json::to_string(&head.sign(&hostile_key())).unwrap());
    compare(&world, "a.json", "d.json").expect(1);
}

#[test]
fn one_round_with_two_audiences_is_a_fork() {
    let world = World::new();
    let write = |file: &str, audience: &str, seq: u64, key: &PrivateKey| {
        let head = LogHead {
            audience: audience.to_owned(),
            round: "spring".parse().unwrap(),
            seq,
            chain_head: Digest::of(file.as_bytes()),
            at: "2027-03-01T12:00:00Z".parse().unwrap(),
        };
        world.write(file, &serde_json::to_string(&head.sign(key)).unwrap());
    };
    write("a.json", "https://one.example", 3, &hostile_key());
    write("b.json", "https://two.example", 5, &hostile_key());
    let fork = compare(&world, "a.json", "b.json").expect(1).stdout;
    for part in [
        "FORK: A and B show different histories of round `spring`",
        "The first difference:\n  A  event 1: created for https://one.example\n",
        "  B  event 1: created for https://two.example\n",
        "equivocation",
        "  a.json\n  b.json\n",
    ] {
        assert!(fork.contains(part), "no {part:?} in {fork}");
    }
    // Another key is another server, which has rounds of its own.
    let other = PrivateKey::from_seed("server".parse().unwrap(), [8; 32]);
    write("c.json", "https://two.example", 5, &other);
    compare(&world, "a.json", "c.json").expect(2).says(&["A is from the server with the key"]);
}
