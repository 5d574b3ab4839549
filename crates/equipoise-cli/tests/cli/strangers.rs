//! Peers without any key cannot lock out honest clients. The full counts are measurements and need the release binary:
//! `EQUIPOISE_FULL=1 cargo test --release -p equipoise-cli --test cli strangers -- --nocapture --test-threads 1`.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use equipoise_server::store::write_private;

use crate::crowd::{Dialer, Link, connect_from, loopback, n_sockets, raise_open_files};
use crate::fleet::{Fleet, full, resident};
use crate::server::Server;

/// Maximum resident memory of the server.
const MAX_MIB: f64 = 300.0;
/// Maximum time of an honest submission.
const HONEST: Duration = Duration::from_secs(10);
/// Strangers' connections must be gone after this time.
const GONE_IN: Duration = Duration::from_secs(30);
const FILE: &str = "/v1/rounds/autumn/files/report.html";

/// A server with an open round `spring` and a published round `autumn`.
struct Scene {
    fleet: Fleet,
    server: Server,
    dialer: Dialer,
}

#[derive(Clone, Copy, PartialEq)]
enum Transport {
    Plain,
    Tls,
}

impl Scene {
    fn new(transport: Transport, limits: &str) -> Self {
        let address = match transport {
            Transport::Plain => "http://127.0.0.1",
            Transport::Tls => "https://localhost",
        };
        let fleet = Fleet::at(address, 8);
        fleet.open_round("autumn", 1);
        let port = fleet.port;
        let dir = fleet.dir.path();
        let mut config = format!("data = \"data\"\nlisten = \"127.0.0.1:{port}\"\n");
        let dialer = match transport {
            Transport::Plain => {
                config += "plain_http_on_loopback = true\n";
                Dialer::plain(port)
            }
            Transport::Tls => {
                let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
                std::fs::write(dir.join("cert.pem"), made.cert.pem()).unwrap();
                let key = made.signing_key.serialize_pem();
                write_private(&dir.join("cert.key"), key.as_bytes()).unwrap();
                config += "[tls]\ncertificate = \"cert.pem\"\nkey = \"cert.key\"\n";
                Dialer::tls(port, &dir.join("cert.pem"))
            }
        };
        std::fs::write(dir.join("server.toml"), format!("{config}[limits]\n{limits}\n")).unwrap();
        let server = Server::start_in(dir, port, "--config server.toml --quiet");
        let scene = Self { fleet, server, dialer };
        let first = scene.submit("autumn", 0, 20_000);
        assert!(first.is_ok(), "{first:?}");
        let started = Instant::now();
        while !scene.get(FILE).starts_with("HTTP/1.1 200") {
            assert!(started.elapsed() < Duration::from_secs(60), "{}", scene.get(FILE));
            std::thread::sleep(Duration::from_millis(100));
        }
        scene
    }

    /// Runs `equipoise submit` with a new file of this size, and returns how long it took.
    fn submit(&self, round: &str, client: usize, bytes: usize) -> Result<Duration, String> {
        let proxy = self.fleet.proxy(client as u64, bytes);
        std::fs::write(self.fleet.dir.path().join("proxy.csv"), proxy).unwrap();
        let started = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
        command
            .args(["submit", "proxy.csv", "--key", &self.fleet.write_key(client)])
            .args(["--server", self.fleet.audience(), "--round", round])
            .current_dir(self.fleet.dir.path());
        if self.fleet.audience().starts_with("https") {
            command.args(["--ca", "cert.pem"]);
        }
        let output = command.output().unwrap();
        match output.status.success() {
            true => Ok(started.elapsed()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The whole response to a request from 127.0.0.1; empty if the connection is refused.
    fn get(&self, path: &str) -> String {
        let mut answer = Vec::new();
        if let Ok(mut link) = self.dialer.send(Ipv4Addr::LOCALHOST, &request(path, "close")) {
            let _ = link.read_to_end(&mut answer);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn pid(&self) -> u32 {
        self.server.child.id()
    }
}

fn request(path: &str, connection: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: {connection}\r\n\r\n")
}

/// A thousand requests or more for large files and pages, about 64 KiB of them.
fn pipelined() -> String {
    let paths = [FILE, "/rounds/autumn", "/v1/rounds/autumn/files/audit.jsonl", "/assets/page.css"];
    let requests: String = paths.iter().map(|path| request(path, "keep-alive")).collect();
    requests.repeat((64 << 10) / requests.len())
}

#[test]
fn peers_that_do_not_read_lock_nobody_out_over_plain_http() {
    unread_responses(Transport::Plain, &[2, 3, 4, 5]);
}

#[test]
fn peers_that_do_not_read_lock_nobody_out_over_tls() {
    unread_responses(Transport::Tls, &[2, 3, 4, 5]);
}

#[test]
fn peers_that_do_not_read_do_not_lock_out_others_at_their_address_over_plain_http() {
    unread_responses(Transport::Plain, &[1]);
}

#[test]
fn peers_that_do_not_read_do_not_lock_out_others_at_their_address_over_tls() {
    unread_responses(Transport::Tls, &[1]);
}

/// Strangers take all connections, pipeline requests and never read.
fn unread_responses(transport: Transport, sources: &[u8]) {
    raise_open_files();
    let n_strangers = if full() { 4096 } else { 256 };
    let per_source = n_strangers / sources.len();
    let limits = format!("connections = {n_strangers}\nconnections_per_address = {per_source}");
    let scene = Scene::new(transport, &limits);
    let idle = resident(scene.pid()).0;
    let text = pipelined();
    let opened = Instant::now();
    let strangers: Vec<Link> = std::thread::scope(|scope| {
        let dialers: Vec<_> = (0..4)
            .map(|thread| {
                let (scene, text) = (&scene, &text);
                scope.spawn(move || {
                    let mine = (0..n_strangers).filter(|i| i % 4 == thread);
                    let source = |i: usize| loopback(sources[i % sources.len()]);
                    mine.filter_map(|i| scene.dialer.send(source(i), text).ok()).collect::<Vec<_>>()
                })
            })
            .collect();
        dialers.into_iter().flat_map(|dialer| dialer.join().unwrap()).collect()
    });
    let opening = opened.elapsed();
    let held = n_sockets(scene.pid());
    let opened = Instant::now();
    let submitted = scene.submit("spring", 1, 2 << 20);
    while n_sockets(scene.pid()) > 20 {
        let left = n_sockets(scene.pid());
        assert!(opened.elapsed() < GONE_IN, "{left} are still open; submission: {submitted:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let (now, peak) = resident(scene.pid());
    println!(
        "{n_strangers} connections from {} addresses that do not read, opened in {:.1} s, {held} held: 2 MB submitted \
         in {submitted:?}; all gone in {:.1} s; resident memory {idle:.0} MiB before, {peak:.0} MiB at most, {now:.0} \
         MiB after",
        sources.len(),
        opening.as_secs_f64(),
        opened.elapsed().as_secs_f64(),
    );
    assert!(strangers.len() > n_strangers * 9 / 10, "only {} connected", strangers.len());
    assert!(submitted.clone().unwrap() < HONEST, "{submitted:?}");
    assert!(peak < MAX_MIB, "{peak} MiB");
}

#[test]
fn peers_that_reconnect_all_the_time_lock_nobody_out() {
    raise_open_files();
    let (slots, submissions) = if full() { (1024, 5) } else { (256, 2) };
    let limits = format!("connections = {slots}\nconnections_per_address = {slots}");
    let scene = Scene::new(Transport::Plain, &limits);
    let (stop, attempts) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Each holds more than all slots, half of them with a request that it does not finish.
                let mut held: VecDeque<TcpStream> = VecDeque::new();
                while !stop.load(Ordering::SeqCst) {
                    let n = attempts.fetch_add(1, Ordering::SeqCst);
                    if let Ok(mut stream) = connect_from(Ipv4Addr::LOCALHOST, scene.fleet.port) {
                        if n.is_multiple_of(2) {
                            let _ = stream.write_all(b"GET /v1/rou");
                        }
                        held.push_back(stream);
                    }
                    if held.len() > slots / 2 {
                        held.pop_front();
                    }
                }
            });
        }
        while attempts.load(Ordering::SeqCst) < 2 * slots {
            std::thread::sleep(Duration::from_millis(10));
        }
        let times: Vec<_> =
            (1..=submissions).map(|client| scene.submit("spring", client, 2 << 20)).collect();
        stop.store(true, Ordering::SeqCst);
        println!("{attempts:?} connections from the same address; submissions: {times:?}");
        assert!(times.iter().all(|time| time.as_ref().is_ok_and(|time| *time < HONEST)));
    });
}

#[test]
fn event_streams_of_one_address_leave_room_for_others() {
    raise_open_files();
    let scene = Scene::new(Transport::Plain, "");
    let listen = |source: u8| {
        let text = request("/v1/rounds/spring/events", "keep-alive");
        let mut link = scene.dialer.send(loopback(source), &text).unwrap();
        let mut first = [0; 12];
        link.read_exact(&mut first).unwrap();
        (String::from_utf8_lossy(&first).ends_with("200"), link)
    };
    let one_address: Vec<_> = (0..300).map(|_| listen(2)).collect();
    let admitted = one_address.iter().filter(|(admitted, _)| *admitted).count();
    println!("300 event streams from one address: {admitted} admitted");
    assert!(listen(1).0, "one address starves the others");
    assert_eq!(admitted, 8);
    // Also if all streams are taken, by addresses that use their whole share.
    let many_addresses: Vec<_> = (0..256).map(|i| listen(10 + (i / 8) as u8)).collect();
    let admitted = many_addresses.iter().filter(|(admitted, _)| *admitted).count();
    assert!(admitted >= 248, "{admitted}");
    assert!(listen(1).0, "32 addresses starve the others");
}

#[test]
fn an_event_stream_ends_after_its_lifetime() {
    let scene = Scene::new(Transport::Plain, "listener_seconds = 1");
    let started = Instant::now();
    let answer = scene.get("/v1/rounds/spring/events");
    assert!(answer.contains("event: round") && answer.ends_with("0\r\n\r\n"), "{answer}");
    assert!((1..5).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
}

#[test]
fn a_slow_reader_succeeds_and_one_that_barely_reads_is_closed() {
    let seconds = if full() { 60 } else { 15 };
    let scene = Scene::new(Transport::Plain, "");
    let length = scene.get(FILE).len();
    let rate: usize = 20 << 10;
    let n = (rate * seconds).div_ceil(length).max(2);
    let text = request(FILE, "keep-alive").repeat(n - 1) + &request(FILE, "close");
    let read_at = |bytes_per_second: usize, until: Duration| {
        let started = Instant::now();
        let mut link = scene.dialer.send(Ipv4Addr::LOCALHOST, &text).unwrap();
        let mut buffer = vec![0; bytes_per_second.div_ceil(4)];
        let mut received = 0;
        while started.elapsed() < until {
            match link.read(&mut buffer) {
                Ok(0) => return (received, Some(started.elapsed())),
                Ok(n) => received += n,
                Err(_) => return (0, Some(started.elapsed())),
            }
            let due = Duration::from_secs_f64(received as f64 / bytes_per_second as f64);
            std::thread::sleep(due.saturating_sub(started.elapsed()));
        }
        (received, None)
    };
    let (slow, barely) = std::thread::scope(|scope| {
        let slow = scope.spawn(|| read_at(rate, Duration::from_secs(200)));
        let barely = scope.spawn(|| {
            let mut link = scene.dialer.send(Ipv4Addr::LOCALHOST, &text.repeat(4)).unwrap();
            let started = Instant::now();
            while link.socket().take_error().unwrap().is_none() && started.elapsed() < GONE_IN {
                let _ = link.read(&mut [0; 1]);
                std::thread::sleep(Duration::from_secs(1));
            }
            started.elapsed()
        });
        (slow.join().unwrap(), barely.join().unwrap())
    });
    println!("{n} × {length} bytes at 20 KiB/s: {slow:?}; at 1 byte/s: closed in {barely:?}");
    // Only the last response says that the connection will be closed.
    assert!(slow.0 >= n * (length - "connection: close\r\n".len()), "{slow:?}");
    assert!(barely < GONE_IN, "{barely:?}");
}

#[test]
fn stalled_peers_do_not_hold_up_a_stop() {
    let mut scene = Scene::new(Transport::Plain, "write_timeout_seconds = 60");
    let text = pipelined();
    let _stalled: Vec<Link> =
        (0..20).map(|_| scene.dialer.send(loopback(2), &text).unwrap()).collect();
    let _partial: Vec<Link> =
        (0..20).map(|_| scene.dialer.send(loopback(2), "GET /v1/rou").unwrap()).collect();
    std::thread::sleep(Duration::from_secs(1));
    let started = Instant::now();
    let killed = Command::new("kill").args(["-TERM", &scene.pid().to_string()]).status();
    assert!(killed.unwrap().success());
    let status = scene.server.child.wait().unwrap();
    println!("stopped in {:.1} s", started.elapsed().as_secs_f64());
    assert_eq!(status.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn a_low_limit_on_open_files_leaves_enough_for_submissions() {
    raise_open_files();
    let scene = Scene::new(Transport::Plain, "");
    let Scene { fleet, server, dialer } = scene;
    drop(server);
    let script = "ulimit -n 700; exec \"$0\" serve --json --config server.toml --quiet";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_equipoise")])
        .current_dir(fleet.dir.path())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(fleet.dir.path().join("server.log")).unwrap())
        .spawn()
        .unwrap();
    let _ = child.stdout.as_mut().unwrap().read(&mut [0; 64]).unwrap();
    let server = Server { child, port: fleet.port };
    let scene = Scene { fleet, server, dialer };
    let held: Vec<_> =
        (0..1000).map(|i| scene.dialer.send(loopback(2 + i as u8 % 4), "G")).collect();
    let submitted = scene.submit("spring", 1, 2 << 20);
    println!("{} connections and 700 files: submitted in {submitted:?}", held.len());
    assert!(submitted.unwrap() < HONEST);
    let log = std::fs::read_to_string(scene.fleet.dir.path().join("server.log")).unwrap();
    assert!(log.contains("the limit on open files is too low"), "{log}");
    assert!(!log.contains("cannot accept"), "{log}");
}
