//! `round new` while the server runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use equipoise_data::TableKind;

use crate::fleet::{Fleet, full, send};
use crate::server::{Server, set_up};
use crate::world::World;

/// A round's options besides its name.
fn options(port: u16) -> String {
    format!(
        "--data data --audience http://127.0.0.1:{port} --schema schema.toml --client west=west.pub \
         --trusted new-roots --fairness sp"
    )
}

fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn entries(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Ends the other threads, also when an assertion fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A fleet whose folder also has what a round of client `west` needs.
fn fleet_with_west(n_clients: usize) -> Fleet {
    let fleet = Fleet::new(n_clients);
    let folder = fleet.dir.path();
    assert!(run(folder, "keygen west").status.success());
    fs::write(folder.join("schema.toml"), fleet.schema().to_toml()).unwrap();
    fs::write(folder.join("west.csv"), fleet.proxy(7, 2000)).unwrap();
    fs::create_dir(folder.join("new-roots")).unwrap();
    fs::copy(folder.join("roots/client-0.csv"), folder.join("new-roots/west.csv")).unwrap();
    fleet
}

#[test]
fn rounds_created_on_a_running_server_accept_submissions_at_once() {
    let n_rounds = if full() { 50 } else { 8 };
    let n_clients = if full() { 200 } else { 40 };
    let fleet = fleet_with_west(n_clients);
    let (folder, port) = (fleet.dir.path(), fleet.port);
    let mut server = fleet.start("");
    let (done, n_accepted) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut slowest_to_appear, mut slowest) = (Duration::ZERO, Duration::ZERO);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (fleet, done, n_accepted) = (&fleet, &done, &n_accepted);
            scope.spawn(move || {
                let mut clients = (worker..n_clients).step_by(4).cycle();
                let mut n = 0;
                // Every client submits once, then asks for its receipt by sending the same file again.
                while n * 4 < n_clients || !done.load(Ordering::SeqCst) {
                    let client = clients.next().unwrap();
                    let body = fleet.proxy(client as u64, 200_000);
                    let (status, reply) = fleet.put(client, TableKind::Csv, body.as_bytes());
                    assert!(matches!(status, 200 | 201), "{status}: {reply}");
                    n_accepted.fetch_add(usize::from(status == 201), Ordering::SeqCst);
                    n += 1;
                }
            });
        }
        let _done = SetOnDrop(&done);
        for i in 0..n_rounds {
            let made = run(folder, &format!("round new extra-{i} {}", options(port)));
            assert!(made.status.success(), "round {i}: {}", text(&made));
            let created = Instant::now();
            let get = format!(
                "GET /v1/rounds/extra-{i} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
            );
            let (status, info) = send(port, &[get.as_bytes()]);
            assert_eq!((status, info["state"].as_str()), (200, Some("open")), "round {i}: {info}");
            slowest_to_appear = slowest_to_appear.max(created.elapsed());
            let sent = run(
                folder,
                &format!(
                    "submit west.csv --key west.key --server http://127.0.0.1:{port} --round extra-{i} --retries 0"
                ),
            );
            assert!(sent.status.success(), "round {i}: {}", text(&sent));
            slowest = slowest.max(created.elapsed());
        }
    });
    let n_accepted = n_accepted.load(Ordering::SeqCst);
    println!(
        "{n_rounds} rounds during {n_accepted} uploads: visible after {slowest_to_appear:?}, a submission accepted after \
         {slowest:?} at most"
    );
    assert_eq!(n_accepted, n_clients);
    assert!(slowest_to_appear < Duration::from_secs(2), "{slowest_to_appear:?}");
    // Includes the client's process on a busy machine.
    assert!(slowest < Duration::from_secs(10), "{slowest:?}");
    assert!(server.child.try_wait().unwrap().is_none(), "the server died");
    drop(server);
    drop(fleet.start(""));
}

#[test]
fn of_two_rounds_of_one_name_created_at_once_exactly_one_exists() {
    let world = World::new();
    let port = set_up(&world);
    world.run("keygen west").expect(0);
    fs::create_dir(world.path("new-roots")).unwrap();
    fs::copy(world.path("roots/north.csv"), world.path("new-roots/west.csv")).unwrap();
    let folder = world.path(".");
    let times = if full() { 50 } else { 4 };
    for i in 0..times {
        // With a server, without one, and on a directory that does not exist yet.
        let data = if i % 4 == 3 { format!("fresh-{i}") } else { "data".to_owned() };
        let server = (i % 2 == 0).then(|| Server::start(&world, port, ""));
        let before = entries(&folder);
        let command = format!("round new twin-{i} {}", options(port))
            .replace("--data data", &format!("--data {data}"));
        let outputs: Vec<Output> = std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| run(&folder, &command)));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let n_made = outputs.iter().filter(|output| output.status.success()).count();
        assert_eq!(n_made, 1, "{i}: {} {}", text(&outputs[0]), text(&outputs[1]));
        let lost = outputs.iter().find(|output| !output.status.success()).unwrap();
        assert!(text(lost).contains(&format!("round `twin-{i}` already exists")), "{}", text(lost));
        let mut expected = before;
        expected.push(format!("twin-{i}.token"));
        if data != "data" {
            expected.push(data.clone());
        }
        expected.sort();
        assert_eq!(entries(&folder), expected);
        let rounds = entries(&world.path(&data).join("rounds"));
        assert!(rounds.iter().all(|name| !name.starts_with('.')), "{rounds:?}");
        drop(server);
    }
    drop(Server::start(&world, port, ""));
}

#[test]
fn a_crash_of_round_new_leaves_nothing_that_matters() {
    let world = World::new();
    let port = set_up(&world);
    world.run("keygen west").expect(0);
    fs::create_dir(world.path("new-roots")).unwrap();
    fs::copy(world.path("roots/north.csv"), world.path("new-roots/west.csv")).unwrap();
    let rounds = world.path("data/rounds");
    for with_server in [true, false] {
        for point in ["in_roots", "after_roots_rename", "before_commit"] {
            let server = with_server.then(|| Server::start(&world, port, ""));
            let made = run(
                &world.path("."),
                &format!("round new autumn {} --crash-at {point}", options(port)),
            );
            assert_eq!(made.status.code(), None, "{point}: {}", text(&made));
            assert_eq!(entries(&rounds).len(), 2, "{point}");
            if let Some(server) = server {
                // The running server is not affected, and does not know the round.
                world
                    .run(&format!("status --server http://127.0.0.1:{port} --round autumn"))
                    .expect(2)
                    .says(&["not_found"]);
                world
                    .run(&format!("status --server http://127.0.0.1:{port} --round spring"))
                    .expect(0);
                drop(server);
            }
            drop(Server::start(&world, port, ""));
            assert_eq!(entries(&rounds), ["spring"], "{point}");
            let _ = fs::remove_file(world.path("autumn.token"));
        }
    }
    let server = Server::start(&world, port, "");
    world.run(&format!("round new autumn {}", options(port))).expect(0);
    world.run(&format!("status --server http://127.0.0.1:{port} --round autumn")).expect(0);
    drop(server);
}

#[test]
fn round_new_reports_what_is_wrong_with_the_round_first() {
    let world = World::new();
    let port = set_up(&world);
    let new = |name: &str, more: &str| {
        format!(
            "round new {name} --data data --audience http://127.0.0.1:{port} --schema schema.toml \
             --client east=east.pub --trusted roots --fairness sp {more}"
        )
    };
    world.run(&new("spring", "")).expect(2).says(&["round `spring` already exists"]);
    world
        .run(&new("autumn", "--token-file spring.token --minimum 9"))
        .expect(2)
        .says(&["at most the number of clients"]);
    let token = world.read("spring.token");
    world
        .run(&new("autumn", "--token-file spring.token"))
        .expect(2)
        .says(&["spring.token already exists", "--token-file"]);
    assert_eq!(world.read("spring.token"), token);
    world
        .run(&new("autumn", "--token-file none/autumn.token"))
        .expect(2)
        .says(&["none/autumn.token"]);
    assert_eq!(entries(&world.path("data/rounds")), ["spring"]);
    for audience in ["ftp://x", "round.example.org", "https://x/rounds", "https://x?a", "https://"]
    {
        world
            .run(&new("autumn", "").replace(&format!("http://127.0.0.1:{port}"), audience))
            .expect(2)
            .says(&[
                audience,
                "must be the address that clients use",
                "https://round.example.org:8443",
            ]);
    }
    world.run(&new("autumn", "")).expect(0);
}
