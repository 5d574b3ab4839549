//! A round server on loopback, with a demo's tables and rounds.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::equipoise;

/// A folder with a demo's tables, rounds and their server, which is killed on drop.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    server: Child,
    port: u16,
    pub(crate) clients: Vec<String>,
}

impl World {
    /// Serves rounds with these names and further options.
    pub(crate) fn start(rounds: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        equipoise(folder.path(), "demo --clients 3 --out demo");
        let proxies = std::fs::read_dir(folder.path().join("demo/proxies")).unwrap();
        let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut clients: Vec<String> = proxies.map(|entry| stem(&entry.unwrap().path())).collect();
        clients.sort();
        let mut roster = String::new();
        for client in &clients {
            equipoise(folder.path(), &format!("keygen {client}"));
            roster += &format!("--client {client}={client}.pub ");
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for (name, options) in rounds {
            let new = format!(
                "round new {name} --data data --audience http://127.0.0.1:{port} --schema demo/schema.toml \
                 {roster} --trusted demo/trusted.csv --fairness sp {options}"
            );
            equipoise(folder.path(), &new);
        }
        let mut server = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(format!("serve --data data --listen 127.0.0.1:{port} --plain-http").split(' '))
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
        Self { folder, server, port, clients }
    }

    /// The options that name a round.
    pub(crate) fn at(&self, round: &str) -> String {
        format!("--server http://127.0.0.1:{} --round {round}", self.port)
    }

    pub(crate) fn submit(&self, round: &str, client: &str) {
        let file = format!("demo/proxies/{client}.parquet");
        let submit = format!("submit {file} --key {client}.key {}", self.at(round));
        equipoise(self.folder.path(), &submit);
    }

    /// The coordinator's token of a round.
    pub(crate) fn token(&self, round: &str) -> String {
        let file = self.folder.path().join(format!("{round}.token"));
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
