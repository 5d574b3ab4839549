//! Slow peers and too many connections: closed, while honest clients are served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use equipoise_data::TableKind;
use equipoise_server::protocol::Digest;

use crate::fleet::{Fleet, full};

const CLOSED_IN: Duration = Duration::from_secs(15);

#[test]
fn closes_slow_connections_while_an_honest_upload_succeeds() {
    let (n_headers, n_bodies) = if full() { (500, 50) } else { (100, 20) };
    let fleet = Fleet::new(n_bodies + 1);
    let _server = fleet.start("");
    let honest = fleet.proxy(1, 2 << 20);
    let started = Instant::now();
    let mut slow: Vec<TcpStream> = (0..n_headers).map(|_| open(&fleet, "GET /v1/rou")).collect();
    slow.extend((0..n_bodies).map(|client| {
        let head = fleet.head(client, TableKind::Csv, 1 << 20, Digest::of(b"never sent"));
        open(&fleet, &head)
    }));
    std::thread::scope(|scope| {
        let upload = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            let started = Instant::now();
            let status = fleet.put(n_bodies, TableKind::Csv, honest.as_bytes()).0;
            (status, started.elapsed())
        });
        while !slow.is_empty() {
            let left = slow.len();
            assert!(started.elapsed() < CLOSED_IN, "{left} are still open");
            slow.retain_mut(is_open);
            std::thread::sleep(Duration::from_secs(1));
        }
        let (status, took) = upload.join().unwrap();
        println!(
            "{n_headers} slow headers, {n_bodies} trickled bodies: all closed in {:.1} s; 2 MB uploaded in {:.2} s",
            started.elapsed().as_secs_f64(),
            took.as_secs_f64()
        );
        assert_eq!(status, 201);
        assert!(took <= Duration::from_secs(3), "{took:?}");
    });
}

#[test]
fn beyond_the_connections_per_address_a_new_one_replaces_the_oldest_idle_one() {
    let fleet = Fleet::new(2);
    let config = format!(
        "data = \"data\"\nlisten = \"127.0.0.1:{}\"\nplain_http_on_loopback = true\n\
         [limits]\nconnections_per_address = 3\n",
        fleet.port
    );
    std::fs::write(fleet.dir.path().join("server.toml"), config).unwrap();
    let _server =
        crate::server::Server::start_in(fleet.dir.path(), fleet.port, "--config server.toml");
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(open(&fleet, "GET /v1/rou"));
        std::thread::sleep(Duration::from_millis(200));
    }
    let is_open: Vec<bool> = held.iter_mut().map(is_open).collect();
    assert_eq!(is_open, [false, true, true, true]);
    let body = fleet.proxy(1, 1000);
    assert_eq!(fleet.put(0, TableKind::Csv, body.as_bytes()).0, 201);
}

fn open(fleet: &Fleet, first: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", fleet.port)).unwrap();
    stream.write_all(first.as_bytes()).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// Sends one more byte and returns whether the connection is still open.
fn is_open(stream: &mut TcpStream) -> bool {
    if stream.write_all(b"a").is_err() {
        return false;
    }
    let mut rest = [0; 4096];
    loop {
        match stream.read(&mut rest) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
        }
    }
}
