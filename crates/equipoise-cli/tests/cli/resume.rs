//! `submit` over a connection that breaks: the upload resumes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::server::{Server, at, set_up, signed_head};
use crate::world::World;

#[test]
fn an_interrupted_submit_is_resumed_by_the_next_one() {
    let world = World::with_proxies();
    let south = world.read("proxies/south.csv");
    let (header, rows) = south.split_once('\n').unwrap();
    world.write("large.csv", &format!("{header}\n{}", rows.repeat(1 + (2 << 20) / rows.len())));
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    let between = cutting_forwarder(port, 700_000);
    let submit = "submit large.csv --key south.key --retries 0";
    world.run(&format!("{submit} {} --audience http://127.0.0.1:{port}", at(between))).expect(2);
    let resumed = world.run(&format!("{submit} {}", at(port))).expect(0);
    let (_, offset) =
        resumed.stderr.split_once("resuming the upload at byte ").expect(&resumed.stderr);
    let offset: u64 = offset.split_whitespace().next().unwrap().parse().unwrap();
    // The forwarder cuts after the chunk that reaches its limit.
    assert!(offset > 100_000 && offset < 700_000 + (16 << 10), "{offset}");
    assert_eq!(world.json("spring-south.receipt.json")["receipt"]["client"], "south");
}

#[test]
fn a_file_that_changes_during_the_upload_is_named_and_can_be_sent_again() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    let file = world.path("proxies/south.csv");
    let south = world.read("proxies/south.csv");
    let (header, rows) = south.split_once('\n').unwrap();
    let reversed: Vec<&str> = rows.lines().rev().collect();
    let others = [
        // The same number of bytes, and fewer.
        format!("{header}\n{}\n", reversed.join("\n")),
        format!("{header}\n{}\n", reversed[..60].join("\n")),
    ];
    for other in others {
        world.write("proxies/south.csv", &south);
        assert_ne!(other, south);
        let target = file.clone();
        // The client requests the upload's state after it signs the file and before it sends it.
        let between = forwarder(port, u64::MAX, move |chunk| {
            if chunk.windows(8).any(|part| part == b"/upload ") {
                std::fs::write(&target, &other).unwrap();
            }
        });
        let submit =
            format!("submit proxies/south.csv --key south.key --retries 3 {}", at(between));
        world
            .run(&format!("{submit} --audience http://127.0.0.1:{port}"))
            .expect(2)
            .says(&["error: proxies/south.csv: the file changed while it was being sent"]);
        assert!(!world.path("spring-south.receipt.json").exists());
    }
    world.run(&format!("submit proxies/south.csv --key south.key {}", at(port))).expect(0);
}

#[test]
fn junk_left_by_replayed_headers_does_not_stop_the_honest_client() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    // Someone captured the signed headers of north's request, and sends them with other bytes.
    let head = signed_head(&world, "north", port);
    let mut replay = TcpStream::connect(("127.0.0.1", port)).unwrap();
    replay.write_all(head.as_bytes()).unwrap();
    replay.write_all(&[b'?'; 2000]).unwrap();
    replay.shutdown(Shutdown::Both).unwrap();
    let started = Instant::now();
    while parts(&world).is_empty() {
        assert!(started.elapsed() < Duration::from_secs(20), "no part was left");
        std::thread::sleep(Duration::from_millis(20));
    }
    let submit = "submit proxies/north.parquet --key north.key --retries 0";
    let run = world.run(&format!("{submit} {}", at(port))).expect(0);
    run.says(&["resuming the upload at byte 2001", "digest_mismatch", "restart 1 of 3"]);
    assert_eq!(world.json("spring-north.receipt.json")["receipt"]["client"], "north");
}

/// The partial uploads that contain something.
fn parts(world: &World) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(world.path("data/uploads/spring")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.metadata().is_ok_and(|found| found.len() > 2000)).collect()
}

/// Forwards connections to a port, and cuts each after this many bytes from the client.
fn cutting_forwarder(to: u16, bytes: u64) -> u16 {
    forwarder(to, bytes, |_| {})
}

/// The same, and calls `inspect` on every chunk from the client before forwarding it.
fn forwarder(to: u16, bytes: u64, inspect: impl Fn(&[u8]) + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let inspect = inspect.clone();
            std::thread::spawn(move || copy(back_from, back_to, u64::MAX, |_| {}));
            std::thread::spawn(move || copy(client, server, bytes, inspect));
        }
    });
    port
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut left: u64, inspect: impl Fn(&[u8])) {
    let mut chunk = [0; 16 << 10];
    while left > 0 {
        let n = from.read(&mut chunk).unwrap_or(0);
        inspect(&chunk[..n]);
        match n {
            n if n > 0 && to.write_all(&chunk[..n]).is_ok() => {
                left = left.saturating_sub(n as u64);
            }
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
