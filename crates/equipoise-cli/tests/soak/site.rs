//! Everything that all rounds share: the data directory, the server, the clients' keys, the schema.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use equipoise_data::Schema;
use equipoise_server::protocol::PrivateKey;
use tempfile::TempDir;

use crate::files::root;
use crate::random::Random;
use crate::report::Report;
use crate::server::Server;
use crate::wire::{Peer, Wire};

/// Clients of the largest roster.
const MAX_CLIENTS: usize = 12;
const N_FEATURES: usize = 6;
/// Connections that are held without being used.
const MAX_HELD: usize = 40;

pub(crate) struct Site<'a> {
    dir: Mutex<Option<TempDir>>,
    path: PathBuf,
    pub(crate) wire: Wire,
    pub(crate) schema: Schema,
    pub(crate) keys: Vec<PrivateKey>,
    pub(crate) report: &'a Report,
    server: Mutex<Option<Server>>,
    peak_mib: AtomicU64,
    held: Mutex<Vec<(Instant, Peer)>>,
    watching: AtomicBool,
}

impl<'a> Site<'a> {
    /// Writes schema, roots and configuration. The first epoch starts the server.
    pub(crate) fn new(report: &'a Report) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_path_buf();
        let mut random = Random::new(report.seed, u64::MAX);
        let port = unused_port();
        let wire = match report.seed % 2 {
            1 => Wire::tls(port, &path),
            _ => Wire::plain(port),
        };
        let schema = schema();
        std::fs::write(path.join("schema.toml"), schema.to_toml()).unwrap();
        std::fs::create_dir(path.join("roots")).unwrap();
        let keys: Vec<PrivateKey> = (0..MAX_CLIENTS).map(key).collect();
        for key in &keys {
            let file = path.join("roots").join(format!("{}.csv", key.name()));
            std::fs::write(file, root(&schema, &mut random)).unwrap();
        }
        let security = match wire.is_tls() {
            true => "[tls]\ncertificate = \"cert.pem\"\nkey = \"cert.key\"",
            false => "plain_http_on_loopback = true",
        };
        let config = format!(
            "data = \"data\"\nlisten = \"127.0.0.1:{port}\"\n{security}\n[limits]\ndrain_seconds = 3\nfree_rejections = 1000\n"
        );
        std::fs::write(path.join("server.toml"), config).unwrap();
        Self {
            dir: Mutex::new(Some(dir)),
            path,
            wire,
            schema,
            keys,
            report,
            server: Mutex::default(),
            peak_mib: AtomicU64::new(0),
            held: Mutex::default(),
            watching: AtomicBool::new(true),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The server; `None` while it is stopped on purpose.
    pub(crate) fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap()
    }

    /// Starts the server. A failure to start is a violation.
    pub(crate) fn start(&self, server: &mut Option<Server>) {
        match Server::start(&self.path) {
            Ok(started) => *server = Some(started),
            Err(log) => self.report.violation(format!("the server does not start: {log}")),
        }
    }

    /// Samples the memory of the running server.
    pub(crate) fn sample(&self, server: &Server) -> f64 {
        let mib = server.peak_mib();
        self.peak_mib.fetch_max(mib as u64, Ordering::SeqCst);
        mib
    }

    /// Peak resident memory of any server so far.
    pub(crate) fn peak_mib(&self) -> f64 {
        self.peak_mib.load(Ordering::SeqCst) as f64
    }

    /// Runs the binary in the site's folder; returns whether it succeeded, and its output.
    pub(crate) fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(arguments)
            .current_dir(&self.path)
            .output();
        match output {
            Ok(output) => {
                let text = [output.stdout, output.stderr].concat();
                (output.status.success(), String::from_utf8_lossy(&text).into_owned())
            }
            Err(error) => (false, error.to_string()),
        }
    }

    /// Keeps a connection open for a while without using it.
    pub(crate) fn hold(&self, peer: Peer, time: Duration) {
        let (now, mut held) = (Instant::now(), self.held.lock().unwrap());
        held.retain(|(until, _)| *until > now);
        if held.len() < MAX_HELD {
            held.push((now + time, peer));
        }
    }

    pub(crate) fn hang_up_all(&self) {
        self.held.lock().unwrap().clear();
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.watching.load(Ordering::SeqCst)
    }

    pub(crate) fn stop_watching(&self) {
        self.watching.store(false, Ordering::SeqCst);
    }

    /// Keeps the folder after the test; returns its path.
    pub(crate) fn keep(&self) -> &Path {
        if let Some(dir) = self.dir.lock().unwrap().take() {
            let _ = dir.keep();
        }
        &self.path
    }
}

fn key(i: usize) -> PrivateKey {
    PrivateKey::from_seed(format!("org-{i:02}").parse().unwrap(), [i as u8 + 1; 32])
}

fn schema() -> Schema {
    let mut text = String::from(
        "version = 1\nintercept = true\n[label]\ncolumn = \"passed\"\npositive = \"1\"\n\
         [sensitive]\ncolumn = \"group\"\nprivileged = \"A\"\n",
    );
    for i in 0..N_FEATURES {
        text += &format!(
            "[[feature]]\ncolumn = \"x{i}\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n"
        );
    }
    Schema::from_toml(&text, Path::new("schema.toml")).unwrap()
}

/// A port that the system does not give to outgoing connections. Otherwise, while the server restarts, one of them might
/// take its port, or connect to itself.
fn unused_port() -> u16 {
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    (first..32_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}
