//! A whole round over loopback, with real processes in a temporary folder.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{CLIENTS, Run, World};

/// A server on its own port; killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn start(world: &World, port: u16, more: &str) -> Self {
        Self::start_in(
            &world.path("."),
            port,
            &format!("--data data --listen 127.0.0.1:{port} --plain-http {more}"),
        )
    }

    /// Starts a server in a folder with these options.
    pub(crate) fn start_in(folder: &Path, port: u16, options: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
        Self::start_by(&mut command, folder, port, options)
    }

    /// Starts a server by a command that takes the server's arguments.
    pub(crate) fn start_by(command: &mut Command, folder: &Path, port: u16, options: &str) -> Self {
        let arguments = format!("serve --json {options}");
        let log = folder.join("server.log");
        let mut child = command
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let server = Self { child, port };
        assert!(!first.is_empty(), "{}", std::fs::read_to_string(log).unwrap());
        server
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the process to exit by itself.
    fn has_died(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(20) {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn at(&self) -> String {
        at(self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn at(port: u16) -> String {
    format!("--server http://127.0.0.1:{port} --round spring")
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Creates keys, roots and an open round `spring`; returns its port.
pub(crate) fn set_up(world: &World) -> u16 {
    set_up_with(world, "--minimum 2")
}

/// A new round with these options, and a free port for its server.
pub(crate) fn set_up_with(world: &World, options: &str) -> u16 {
    let port = free_port();
    for client in CLIENTS {
        world.run(&format!("keygen {client}")).expect(0);
    }
    world
        .run(&format!(
            "round new spring --data data --audience http://127.0.0.1:{port} --schema schema.toml \
             --client east=east.pub --client north=north.pub --client south=south.pub \
             --trusted roots --fairness sp {options}"
        ))
        .expect(0);
    port
}

fn proxy_of(client: &str) -> &'static str {
    match client {
        "east" => "proxies/east.parquet",
        "north" => "proxies/north.parquet",
        _ => "proxies/south.csv",
    }
}

pub(crate) fn submit(world: &World, client: &str, port: u16) -> Run {
    let file = proxy_of(client);
    world.run(&format!("submit {file} --key {client}.key {} --retries 0", at(port)))
}

pub(crate) fn wait_published(world: &World, port: u16) -> Value {
    let started = Instant::now();
    loop {
        let status = world.run(&format!("status {} --json", at(port))).expect(0).json();
        if status["state"] == "published" || started.elapsed() > Duration::from_secs(60) {
            return status;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_round_over_the_network_gives_the_same_model_as_defend() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let server = Server::start(&world, port, "");

    submit(&world, "north", port).expect(0);
    submit(&world, "north", port).expect(0);
    let receipt = world.json("spring-north.receipt.json");
    assert_eq!(receipt["receipt"]["client"], "north");
    world.write_encoded("east.csv", "other.csv");
    world
        .run(&format!("submit other.csv --key north.key {} --retries 0", at(port)))
        .expect(2)
        .says(&["already_submitted", "hint:"]);
    world
        .run(&format!(
            "submit proxies/east.parquet --key north.key --client east {} --retries 0",
            at(port)
        ))
        .expect(2)
        .says(&["not_authenticated", "hint:"]);
    world
        .run(&format!("submit data.csv --key east.key {} --retries 0", at(port)))
        .expect(2)
        .says(&["nothing was sent"]);
    world
        .run(&format!(
            "submit proxies/east.parquet --key east.key {} --retries 0 --audience other",
            at(port)
        ))
        .expect(2)
        .says(&["not to other"]);
    world
        .run(&format!("close {} --token-file spring.token", at(port)))
        .expect(2)
        .says(&["too_few_submissions"]);
    world.run(&format!("model {} -o early", at(port))).expect(2).says(&["not_published"]);

    // The server is killed in the middle of the round and restarted.
    server.kill();
    let server = Server::start(&world, port, "");
    submit(&world, "south", port).expect(0);
    let seen = world.run(&format!("status {} --token-file spring.token", at(port))).expect(0);
    for part in ["2 of 3", "not yet", "submitted"] {
        assert!(seen.stdout.contains(part), "{}", seen.stdout);
    }
    submit(&world, "east", port).expect(0);

    let fetched = "--server-key data/server.pub --receipt spring-north.receipt.json -o fetched";
    world.run(&format!("model {} {fetched} --wait", at(port))).expect(0);
    world.defend("--fairness sp -o own").expect(0);
    assert_eq!(world.read("fetched/model.json"), world.read("own/model.json"));
    drop(server);

    world.run("verify fetched --server-key data/server.pub").expect(0);
    let log = world.run("audit fetched").expect(0).stdout;
    for part in [
        "created for east, north, south",
        "accepted from south",
        "closed because nobody else can submit: 3 submissions",
        "published",
    ] {
        assert!(log.contains(part), "{log}");
    }
    let changed = world.read("fetched/outcome.json").replacen("0.", "1.", 1);
    world.write("fetched/outcome.json", &changed);
    let verdict = world.run("verify fetched --json").expect(1).json();
    assert_eq!(verdict["verified"], false);
}

#[test]
fn a_crash_at_any_point_loses_no_accepted_submission_and_gives_the_same_model() {
    let world = World::with_proxies();
    world.defend("--fairness sp -o own").expect(0);
    let times = if std::env::var_os("EQUIPOISE_FULL").is_some() { 50 } else { 1 };
    for point in [
        "mid_body",
        "after_part_sync",
        "during_validation",
        "after_rename",
        "after_folder_sync",
        "before_commit",
        "after_commit",
        "after_reply",
        "in_close",
        "mid_solve",
        "after_artefacts",
    ] {
        for time in 0..times {
            for left in ["data", "spring.token", "fetched"] {
                let _ = std::fs::remove_dir_all(world.path(left));
                let _ = std::fs::remove_file(world.path(left));
            }
            for client in CLIENTS {
                for ending in ["key", "pub"] {
                    let _ = std::fs::remove_file(world.path(&format!("{client}.{ending}")));
                }
            }
            let port = set_up(&world);
            let after_reply = point == "after_reply";
            let crash = if after_reply { String::new() } else { format!("--crash-at {point}") };
            let mut server = Server::start(&world, port, &crash);
            let first: Vec<Run> =
                CLIENTS.iter().map(|client| submit(&world, client, port)).collect();
            if after_reply {
                server.child.kill().unwrap();
            }
            assert!(server.has_died(), "{point}, {time}: {}", world.read("server.log"));
            drop(server);
            let before: Vec<Option<String>> = CLIENTS
                .iter()
                .zip(&first)
                .map(|(client, run)| receipt(&world, client, run))
                .collect();
            let _server = Server::start(&world, port, "");
            for (client, before) in CLIENTS.iter().zip(before) {
                let run = submit(&world, client, port);
                // The round may be full and closed already; the receipt is still returned.
                assert_eq!(run.code, 0, "{point}: {}", run.stderr);
                let after = receipt(&world, client, &run);
                assert!(
                    before.is_none() || before == after,
                    "{point}: the receipt of {client} changed"
                );
            }
            assert_eq!(wait_published(&world, port)["state"], "published", "{point}");
            world
                .run(&format!("model {} --server-key data/server.pub -o fetched", at(port)))
                .expect(0);
            assert_eq!(world.read("fetched/model.json"), world.read("own/model.json"), "{point}");
        }
    }
}

fn receipt(world: &World, client: &str, run: &Run) -> Option<String> {
    (run.code == 0).then(|| world.read(&format!("spring-{client}.receipt.json")))
}

#[test]
fn slow_peers_are_disconnected_and_sigterm_stops_the_server_cleanly() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let mut server = Server::start(&world, port, "--admin-listen 127.0.0.1:0");
    let mut slow: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /v1/rounds HTTP/1.1\r\nho").unwrap();
    }
    let head = signed_head(&world, "north", port);
    slow.extend((0..3).map(|_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }));
    let started = Instant::now();
    submit(&world, "east", port).expect(0);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        let mut rest = Vec::new();
        // Closed, with or without a reply.
        let ended = stream.read_to_end(&mut rest);
        assert!(ended.is_ok() || !would_block(&ended), "{ended:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(15));

    let killed = Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    assert!(server.has_died());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    let log = world.read("server.log");
    for line in log.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    assert!(log.contains("\"stopping\""), "{log}");
}

/// The head of a client's request and the first byte of a body that is never sent.
pub(crate) fn signed_head(world: &World, client: &str, port: u16) -> String {
    use equipoise_data::TableKind;
    use equipoise_server::protocol::{Digest, Manifest, PrivateKey};
    let body = std::fs::read(world.path(proxy_of(client))).unwrap();
    let manifest = Manifest {
        audience: format!("http://127.0.0.1:{port}"),
        round: "spring".parse().unwrap(),
        client: client.parse().unwrap(),
        media_type: TableKind::Parquet,
        length: body.len() as u64,
        sha256: Digest::of(&body),
        schema_sha256: world.schema().digest(),
    };
    let key = PrivateKey::from_line(&world.read(&format!("{client}.key"))).unwrap();
    format!(
        "PUT /v1/rounds/spring/submissions/{client} HTTP/1.1\r\nhost: localhost\r\n\
         equipoise-manifest: {}\r\nequipoise-signature: {}\r\ncontent-type: {}\r\n\
         content-length: {}\r\n\r\nP",
        manifest.to_header(),
        manifest.sign(&key),
        manifest.media_type.media_type(),
        body.len()
    )
}

fn would_block<T>(result: &std::io::Result<T>) -> bool {
    matches!(result, Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut))
}

#[test]
fn the_instructions_of_serve_dev_work() {
    let world = World::new();
    let port = free_port();
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(["serve", "--dev", "--listen", &format!("127.0.0.1:{port}")])
        .current_dir(world.path("."))
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(world.path("server.log")).unwrap())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut instructions: Vec<String> = Vec::new();
    for line in lines {
        let line = line.unwrap();
        instructions.push(line.clone());
        if line.contains("equipoise audit") {
            break;
        }
    }
    let server = Server { child, port };
    assert!(instructions.len() > 5, "{}", world.read("server.log"));
    for line in instructions.iter().filter_map(|line| line.strip_prefix("  equipoise ")) {
        if line.starts_with("close ") {
            // All clients have submitted, so the round closes by itself.
            let status = line.replacen("close", "status", 1).replace(" --wait", " --json");
            let started = Instant::now();
            while world.run(&status).expect(0).json()["state"] != "published" {
                assert!(started.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(200));
            }
        } else {
            world.run(line).expect(0);
        }
    }
    assert!(world.path("demo-model/model.json").exists());
    world.run("serve --dev --listen 127.0.0.1:1").expect(2).says(&["holds a round for"]);
    world.run(&format!("status {}", server.at().replace("http:", "https:"))).expect(2);
}

#[test]
fn rejects_invalid_keys_rounds_and_server_options() {
    let world = World::new();
    world.run("keygen north").expect(0);
    world.run("keygen north").expect(2).says(&["north.key"]);
    world.run("keygen ../x").expect(2).says(&["is not a valid name"]);
    world.run("keygen south").expect(0);
    let new = "round new spring --data data --audience https://a.example --schema schema.toml --trusted roots --fairness sp";
    world.run(new).expect(2).says(&["the round has no clients"]);
    world.run(&format!("{new} --client north=north.key")).expect(2).says(&["private key"]);
    world
        .run(&format!("{new} --client north=north.pub --client south=north.pub"))
        .expect(2)
        .says(&["same key"]);
    world
        .run(&format!("{new} --client west=north.pub"))
        .expect(2)
        .says(&["no root for client `west`"]);
    world.run(&format!("{new} --client north=north.pub --minimum 2")).expect(2).says(&[
        "at least 1",
        "at most the number of clients (1)",
        "found 2",
    ]);
    world.run(&format!("{new} --client north=north.pub")).expect(0);
    world
        .run(&format!("{new} --client north=north.pub --token-file other.token"))
        .expect(2)
        .says(&["already exists"]);
    world.run("serve --data data").expect(2).says(&["--cert"]);
    world.run("serve --data data --listen 0.0.0.0:0 --plain-http").expect(2).says(&["loopback"]);
    world.write("server.toml", "data = \"data\"\nlisten = \"127.0.0.1:0\"\nlimit = 1\n");
    world.run("serve --config server.toml").expect(2).says(&["unknown field"]);
    world.run("submit x.csv --key north.pub --server http://example.org --round spring").expect(2);
    world
        .run("status --server http://example.org --round spring")
        .expect(2)
        .says(&["must begin with https://"]);
}

#[test]
fn limits_that_no_file_can_meet_are_refused() {
    let world = World::with_proxies();
    world.run("keygen east").expect(0);
    let new = "round new spring --data data --audience http://127.0.0.1:1 --schema schema.toml \
               --client east=east.pub --trusted roots --fairness sp";
    let n_columns = world.read("proxies/south.csv").lines().next().unwrap().split(',').count();
    let fewer = n_columns - 1;
    world.run(&format!("{new} --max-columns {fewer}")).expect(2).says(&[
        &format!("has {n_columns} columns"),
        &format!("at most {fewer}"),
        "--max-columns",
    ]);
    assert!(!world.path("spring.token").exists());
    for limit in ["--max-rows", "--max-columns", "--max-ratio"] {
        let run = world.run(&format!("{new} {limit} 0")).expect(2).says(&["must be at least 1"]);
        assert!(!run.stderr.contains("18446744073709551615"), "{}", run.stderr);
        world.run(&format!("{new} {limit} many")).expect(2).says(&["is not a whole number"]);
    }
    world.run(&format!("{new} --max-columns {n_columns} --max-rows 1")).expect(0);
}

#[test]
fn a_server_without_rounds_says_so() {
    let world = World::new();
    let server = Server::start(&world, free_port(), "--quiet");
    server.kill();
    let log = world.read("server.log");
    for part in ["WARN", "the data directory has no rounds", "equipoise round new", "\"data\""] {
        assert!(log.contains(part), "no {part:?} in {log}");
    }
    let port = set_up(&world);
    Server::start(&world, port, "").kill();
    let log = world.read("server.log");
    assert!(!log.contains("has no rounds"), "{log}");
}
