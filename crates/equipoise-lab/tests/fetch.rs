//! What is fetched is the expected file or nothing, whatever the server does.
#![allow(clippy::unwrap_used)]

mod https_server;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use equipoise_lab::{DATASETS, Dataset, Error, FetchProblem, FetchSettings, Fetched, HttpsProxy};
use https_server::{HttpsServer, Reply};
use tempfile::TempDir;

const CONTENT: &[u8] = b"score,group,passed\n1,A,1\n2,B,0\n";

/// A dataset with the digest of [`CONTENT`].
const SMALL: Dataset = Dataset {
    name: "small",
    title: "Small",
    file: "small.csv",
    sha256: "bfc90a562c380f6ce44d3022dbc6e6d05aa53426a08775df8fde98c718786f74",
    home: "https://localhost:1/small.csv",
    rows: 2,
    ..DATASETS[0]
};

/// A server, a folder to fetch to, and settings that trust the server.
struct World {
    server: HttpsServer,
    folder: TempDir,
    settings: FetchSettings,
}

impl World {
    /// A server that answers `/small.csv` so.
    fn new(reply: Reply) -> Self {
        let (server, folder) = (HttpsServer::start(), tempfile::tempdir().unwrap());
        let certificate = folder.path().join("server.pem");
        server.write_certificate(&certificate);
        server.answer("/small.csv", reply);
        let settings = FetchSettings {
            url: Some(server.url("/small.csv")),
            ca_file: Some(certificate),
            ..FetchSettings::default()
        };
        Self { server, folder, settings }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self) -> PathBuf {
        self.data().join("small.csv")
    }

    fn fetch(&self) -> Result<Fetched, Error> {
        SMALL.fetch(&self.data(), &self.settings, &mut |_, _| {})
    }

    /// Fetches in vain: the problem, after which nothing may be left.
    fn problem(&self) -> FetchProblem {
        let failed = self.fetch();
        assert!(!self.data().exists(), "something was left behind");
        match failed {
            Err(Error::Fetch { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_right_file_is_kept_and_not_fetched_twice() {
    let world = World::new(Reply::Content(CONTENT.to_vec()));
    let mut seen = Vec::new();
    let fetched =
        SMALL.fetch(&world.data(), &world.settings, &mut |done, of| seen.push((done, of))).unwrap();
    let bytes = CONTENT.len() as u64;
    assert_eq!(fetched, Fetched { file: world.file(), bytes, downloaded: true });
    assert_eq!(seen.last(), Some(&(bytes, Some(bytes))));
    assert_eq!(std::fs::read(world.file()).unwrap(), CONTENT);
    assert_eq!(std::fs::read_dir(world.data()).unwrap().count(), 1);

    let again = world.fetch().unwrap();
    assert_eq!(again, Fetched { downloaded: false, ..fetched });
    assert_eq!(world.server.requests(), 1);
}

#[test]
fn another_file_in_its_place_is_replaced_only_by_force() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    std::fs::create_dir(world.data()).unwrap();
    std::fs::write(world.file(), "mine").unwrap();
    let refused = world.fetch();
    assert!(matches!(refused, Err(Error::DatasetDigest { .. })), "{refused:?}");
    assert_eq!(world.server.requests(), 0);
    assert_eq!(std::fs::read(world.file()).unwrap(), b"mine");

    // A download that fails replaces nothing, force or not.
    world.settings.force = true;
    world.server.answer("/small.csv", Reply::Content(b"another".to_vec()));
    world.fetch().unwrap_err();
    assert_eq!(std::fs::read(world.file()).unwrap(), b"mine");
    world.server.answer("/small.csv", Reply::Content(CONTENT.to_vec()));
    assert!(world.fetch().unwrap().downloaded);
    assert_eq!(std::fs::read(world.file()).unwrap(), CONTENT);
    assert_eq!(std::fs::read_dir(world.data()).unwrap().count(), 1);
}

#[test]
fn another_content_is_refused_with_both_digests() {
    let world = World::new(Reply::Content(b"another".to_vec()));
    let FetchProblem::Digest { expected, found } = world.problem() else { panic!() };
    assert_eq!(expected, SMALL.sha256);
    assert_eq!(found, "ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5");
}

#[test]
fn redirects_are_followed_to_https_and_only_there() {
    let world = World::new(Reply::Redirect("/moved.csv".to_owned()));
    world.server.answer("/moved.csv", Reply::Redirect(world.server.url("/here.csv")));
    world.server.answer("/here.csv", Reply::Content(CONTENT.to_vec()));
    assert!(world.fetch().unwrap().downloaded);

    let world = World::new(Reply::Redirect("http://localhost/small.csv".to_owned()));
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::RedirectToHttp { .. }), "{problem:?}");
    assert!(problem.to_string().contains("http://localhost/small.csv"), "{problem}");

    let world = World::new(Reply::Redirect("/small.csv".to_owned()));
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::TooManyRedirects), "{problem:?}");
}

#[test]
fn only_https_addresses_are_fetched_from() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    for url in ["http://localhost/small.csv", "ftp://localhost/a", "small.csv", "", "https:/x"] {
        world.settings.url = Some(url.to_owned());
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::NotHttps), "{url}: {problem:?}");
    }
    for url in ["https://", "https://local host/a", "https://[::1/a"] {
        world.settings.url = Some(url.to_owned());
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::BadUrl { .. }), "{url}: {problem:?}");
    }
}

#[test]
fn an_answer_that_is_not_200_is_refused() {
    for status in [204, 404, 500] {
        let problem = World::new(Reply::Status(status)).problem();
        assert!(matches!(problem, FetchProblem::Status { status: s } if s == status));
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_announced_or_not() {
    for reply in [Reply::Announce(1 << 40), Reply::Endless] {
        let mut world = World::new(reply);
        world.settings.max_bytes = 100_000;
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::TooLarge { limit: 100_000 }), "{problem:?}");
    }
}

#[test]
fn a_file_that_breaks_off_is_refused() {
    let problem = World::new(Reply::Cut(CONTENT.to_vec())).problem();
    let n = CONTENT.len() as u64;
    assert!(
        matches!(problem, FetchProblem::BrokenOff { bytes, length: Some(of) } if bytes == n && of == 2 * n),
        "{problem:?}"
    );
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    let started = Instant::now();
    let mut world = World::new(Reply::Stall(CONTENT.to_vec()));
    world.settings.stall_timeout = Duration::from_millis(300);
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Stalled { .. }), "{problem:?}");

    // One that trickles, or sends for ever within the limit of size, meets the limit of the whole.
    let mut world = World::new(Reply::Stall(CONTENT.to_vec()));
    world.settings.total_timeout = Duration::from_millis(300);
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::TooSlow { .. }), "{problem:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_certificate_must_be_trusted_and_be_of_that_server() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let other_name = world.server.url("/small.csv").replace("localhost", "127.0.0.1");
    world.settings.url = Some(other_name);
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Certificate { .. }), "{problem:?}");

    world.settings.url = Some(world.server.url("/small.csv"));
    world.settings.ca_file = None;
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Certificate { .. }), "{problem:?}");
    assert_eq!(world.server.requests(), 0);
}

#[test]
fn certificates_that_cannot_be_read_are_named() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let file = world.folder.path().join("bad.pem");
    world.settings.ca_file = Some(file.clone());
    for content in [None, Some("no certificate"), Some("-----BEGIN CERTIFICATE-----\n?")] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::CaFile { .. }), "{content:?}: {problem:?}");
        assert!(problem.to_string().contains("bad.pem"), "{problem}");
    }
}

#[test]
fn servers_that_cannot_be_reached_are_told_apart() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    // A label may have 63 letters: this name is refused without asking anybody.
    world.settings.url = Some(format!("https://{}.invalid/a.csv", "a".repeat(64)));
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::NameNotResolved), "{problem:?}");

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    world.settings.url = Some(format!("https://localhost:{free}/a.csv"));
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Refused), "{problem:?}");

    // A listener that says nothing: the handshake is part of connecting.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    world.settings.url = Some(format!("https://localhost:{port}/a.csv"));
    world.settings.connect_timeout = Duration::from_millis(300);
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::ConnectTimeout { .. }), "{problem:?}");
}

#[test]
fn a_server_that_speaks_no_tls_is_told() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let (port, _) = plain_server("HTTP/1.1 400 Bad Request\r\n\r\n");
    world.settings.url = Some(format!("https://localhost:{port}/a.csv"));
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Tls { .. }), "{problem:?}");
}

#[test]
fn a_proxy_is_asked_to_connect_unless_the_host_is_excepted() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let (port, asked) = plain_server("HTTP/1.1 403 Forbidden\r\n\r\n");
    let url = format!("http://user:secret@localhost:{port}");
    world.settings.proxy = Some(HttpsProxy::new(&url, "").unwrap());
    let failed = world.fetch().unwrap_err().to_string();
    assert!(failed.contains("403") && failed.contains(&format!("proxy localhost:{port}")));
    assert!(!failed.contains("secret"), "{failed}");
    let asked = asked.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(asked.starts_with("CONNECT localhost:"), "{asked}");

    world.settings.proxy = Some(HttpsProxy::new(&url, "example.org, localhost").unwrap());
    assert!(world.fetch().unwrap().downloaded);
    for url in ["socks5://localhost:1", "gopher://localhost", "http://"] {
        assert!(matches!(HttpsProxy::new(url, ""), Err(FetchProblem::ProxyUrl)), "{url}");
    }
}

/// A server without TLS that answers its first connection so, and tells what it was asked.
fn plain_server(answer: &'static str) -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // The whole of a request, or the first of what is none: a close with bytes unread would take the
        // answer back.
        let mut request = Vec::new();
        let mut part = [0; 4096];
        loop {
            let n = stream.read(&mut part).unwrap();
            request.extend_from_slice(&part[..n]);
            let is_tls = request.first() == Some(&0x16);
            if n == 0 || is_tls || request.ends_with(b"\r\n\r\n") {
                break;
            }
        }
        let _ = tell.send(String::from_utf8_lossy(&request).into_owned());
        let _ = stream.write_all(answer.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        while stream.read(&mut part).is_ok_and(|n| n > 0) {}
    });
    (port, asked)
}
