//! A download leaves the expected file or nothing, whatever the server does.
#![allow(clippy::unwrap_used)]

mod https_server;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use equipoise_lab::{DATASETS, Dataset, Error, FetchProblem, FetchSettings, Fetched};
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
    /// A server that answers `/small.csv` with `reply`.
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

    /// The problem of a download that must fail and leave nothing.
    fn problem(&self) -> FetchProblem {
        let failed = self.fetch();
        assert!(!self.data().exists(), "the folder was left");
        match failed {
            Err(Error::Fetch { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn keeps_the_expected_file_and_downloads_it_once() {
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
fn replaces_a_different_file_only_with_force() {
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
fn refuses_a_wrong_digest() {
    let world = World::new(Reply::Content(b"another".to_vec()));
    let FetchProblem::Digest { expected, found } = world.problem() else { panic!() };
    assert_eq!(expected, SMALL.sha256);
    assert_eq!(
        found.to_string(),
        "ae448ac86c4e8e4dec645729708ef41873ae79c6dff84eff73360989487f08e5"
    );
}

#[test]
fn follows_redirects_to_https_only() {
    let world = World::new(Reply::Redirect("/moved.csv".to_owned()));
    world.server.answer("/moved.csv", Reply::Redirect(world.server.url("/here.csv")));
    world.server.answer("/here.csv", Reply::Content(CONTENT.to_vec()));
    assert!(world.fetch().unwrap().downloaded);

    let world = World::new(Reply::Redirect("http://localhost/small.csv".to_owned()));
    let problem = world.problem();
    let FetchProblem::NotHttps(url) = problem else { panic!("{problem:?}") };
    assert_eq!(url, "http://localhost/small.csv");

    let world = World::new(Reply::Redirect("/small.csv".to_owned()));
    let problem = world.problem();
    assert!(problem.to_string().contains("too many redirects"), "{problem}");
}

#[test]
fn refuses_urls_that_are_not_https() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    for url in ["http://localhost/small.csv", "ftp://localhost/a", "small.csv"] {
        world.settings.url = Some(url.to_owned());
        let problem = world.problem();
        assert!(matches!(&problem, FetchProblem::NotHttps(found) if found == url), "{problem:?}");
    }
    for url in ["", "https:/x", "https://", "https://local host/a", "https://[::1/a"] {
        world.settings.url = Some(url.to_owned());
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::Connection(_)), "{url}: {problem:?}");
    }
}

#[test]
fn refuses_a_status_other_than_200() {
    for status in [204, 404, 500] {
        let problem = World::new(Reply::Status(status)).problem();
        assert!(matches!(problem, FetchProblem::Status(s) if s == status));
    }
}

#[test]
fn refuses_a_file_that_is_too_large() {
    for reply in [Reply::Announce(1 << 40), Reply::Endless] {
        let mut world = World::new(reply);
        world.settings.max_bytes = 100_000;
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::TooLarge(100_000)), "{problem:?}");
    }
}

#[test]
fn refuses_a_truncated_file() {
    let problem = World::new(Reply::Cut(CONTENT.to_vec())).problem();
    let n = CONTENT.len() as u64;
    assert!(matches!(problem, FetchProblem::Interrupted(bytes, _) if bytes == n), "{problem:?}");
}

#[test]
fn gives_up_on_a_server_that_stalls() {
    let started = Instant::now();
    let short = Duration::from_millis(300);
    let long = Duration::from_secs(60);
    for (stall_timeout, timeout) in [(short, long), (long, short)] {
        let mut world = World::new(Reply::Stall(CONTENT.to_vec()));
        (world.settings.stall_timeout, world.settings.timeout) = (stall_timeout, timeout);
        let problem = world.problem();
        assert!(problem.to_string().contains("did not respond in time"), "{problem}");
    }
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn refuses_a_certificate_that_is_untrusted_or_of_another_server() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let other_name = world.server.url("/small.csv").replace("localhost", "127.0.0.1");
    world.settings.url = Some(other_name);
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Certificate(_)), "{problem:?}");

    world.settings.url = Some(world.server.url("/small.csv"));
    world.settings.ca_file = None;
    let problem = world.problem();
    assert!(matches!(problem, FetchProblem::Certificate(_)), "{problem:?}");
    assert_eq!(world.server.requests(), 0);
}

#[test]
fn names_a_certificate_file_that_cannot_be_used() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let file = world.folder.path().join("bad.pem");
    world.settings.ca_file = Some(file.clone());
    for content in [None, Some("no certificate"), Some("-----BEGIN CERTIFICATE-----\n?")] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let problem = world.problem();
        assert!(matches!(problem, FetchProblem::CaFile(..)), "{content:?}: {problem:?}");
        assert!(problem.to_string().contains("bad.pem"), "{problem}");
    }
}

#[test]
fn reports_why_a_server_cannot_be_reached() {
    let mut world = World::new(Reply::Content(CONTENT.to_vec()));
    let mut reason = |url: String| {
        world.settings.url = Some(url);
        world.settings.stall_timeout = Duration::from_millis(300);
        match world.problem() {
            FetchProblem::Connection(reason) => reason,
            problem => panic!("{problem:?}"),
        }
    };
    // A label has at most 63 letters: this name fails without asking a resolver.
    let unknown = reason(format!("https://{}.invalid/a.csv", "a".repeat(64)));
    assert!(unknown.contains("lookup") || unknown.contains("host not found"), "{unknown}");

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = reason(format!("https://localhost:{free}/a.csv"));
    assert!(refused.contains("refused"), "{refused}");

    // A listener that never answers the handshake.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let timeout = reason(format!("https://localhost:{port}/a.csv"));
    assert!(timeout.contains("did not respond in time"), "{timeout}");

    // A server without TLS.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read(&mut [0; 4096]);
    });
    let no_tls = reason(format!("https://localhost:{port}/a.csv"));
    assert!(no_tls.contains("corrupt message"), "{no_tls}");
}
