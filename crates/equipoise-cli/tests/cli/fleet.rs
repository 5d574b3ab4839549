//! A round with many clients that send raw requests over a socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use equipoise_core::{Fairness, Settings};
use equipoise_data::{Schema, TableKind};
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, OFFSET_HEADER, PrivateKey, RoundId, SIGNATURE_HEADER,
};
use equipoise_server::store::{DataFolder, NewRound, Store, StoreParts};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Server, free_port};
use crate::wire::Wire;

const N_FEATURES: usize = 10;

/// An open round and the keys of its clients.
pub(crate) struct Fleet {
    pub(crate) dir: TempDir,
    pub(crate) port: u16,
    pub(crate) wire: Wire,
    audience: String,
    /// The coordinator's token.
    pub(crate) token: String,
    schema: Schema,
    keys: Vec<PrivateKey>,
}

/// Whether the long tests run at their full count.
pub(crate) fn full() -> bool {
    std::env::var_os("EQUIPOISE_FULL").is_some()
}

impl Fleet {
    pub(crate) fn new(n_clients: usize) -> Self {
        Self::at("http://127.0.0.1", n_clients)
    }

    /// A fleet whose server has another scheme or name. The test starts that server itself.
    pub(crate) fn at(address: &str, n_clients: usize) -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        Self::set_up(dir, Wire::plain(port), format!("{address}:{port}"), n_clients, None)
    }

    /// Clients that use TLS, or plain HTTP.
    pub(crate) fn over_tls(n_clients: usize, tls: bool) -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let wire = if tls { Wire::tls(port, dir.path()) } else { Wire::plain(port) };
        let audience = wire.url();
        Self::set_up(dir, wire, audience, n_clients, None)
    }

    /// A round that closes at a deadline.
    pub(crate) fn with_deadline(n_clients: usize, deadline: Timestamp) -> Self {
        let wire = Wire::plain(free_port());
        let audience = wire.url();
        Self::set_up(tempfile::tempdir().unwrap(), wire, audience, n_clients, Some(deadline))
    }

    fn set_up(
        dir: TempDir,
        wire: Wire,
        audience: String,
        n_clients: usize,
        deadline: Option<Timestamp>,
    ) -> Self {
        let schema = schema();
        let roots = dir.path().join("roots");
        std::fs::create_dir(&roots).unwrap();
        let keys: Vec<PrivateKey> = (0..n_clients)
            .map(|i| {
                let mut seed = [1; 32];
                seed[..8].copy_from_slice(&(i as u64).to_le_bytes());
                PrivateKey::from_seed(format!("client-{i}").parse().unwrap(), seed)
            })
            .collect();
        for key in &keys {
            let root =
                header(&schema) + &raw_row(1, "A", 1) + &raw_row(2, "B", 0) + &raw_row(3, "A", 0);
            std::fs::write(roots.join(format!("{}.csv", key.name())), root).unwrap();
        }
        let port = wire.port;
        let mut fleet = Self { dir, port, wire, audience, token: String::new(), schema, keys };
        fleet.token = fleet.create_round("spring", n_clients, deadline);
        fleet
    }

    /// Creates and opens a round of the first clients. The server must not be running.
    pub(crate) fn open_round(&self, round: &str, n_clients: usize) {
        self.create_round(round, n_clients, None);
    }

    /// Returns the coordinator's token.
    fn create_round(&self, round: &str, n_clients: usize, deadline: Option<Timestamp>) -> String {
        let folder = DataFolder::open(&self.dir.path().join("data")).unwrap();
        let store = Store::open(folder, StoreParts::default()).unwrap();
        let round: RoundId = round.parse().unwrap();
        let token = store
            .create_round(NewRound {
                round: round.clone(),
                audience: self.audience.clone(),
                schema: self.schema.clone(),
                roster: self.keys[..n_clients].iter().map(PrivateKey::public).collect(),
                roots: self.dir.path().join("roots"),
                settings: Settings::new(Fairness::SP),
                minimum: 1,
                deadline,
                limits: SubmissionLimits::default(),
            })
            .unwrap();
        store.open_round(&round).unwrap();
        token
    }

    /// The server's address, as clients know it.
    pub(crate) fn audience(&self) -> &str {
        &self.audience
    }

    /// Writes a client's key file and returns its name.
    pub(crate) fn write_key(&self, client: usize) -> String {
        let key = &self.keys[client];
        let name = format!("{}.key", key.name());
        let path = self.dir.path().join(&name);
        std::fs::write(&path, key.to_line()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        name
    }

    pub(crate) fn start(&self, more: &str) -> Server {
        let options = format!("--data data --quiet {} {more}", self.wire.serve_options());
        Server::start_in(self.dir.path(), self.port, &options)
    }

    /// Starts a server with these lines in its configuration.
    pub(crate) fn start_with_config(&self, lines: &str) -> Server {
        Server::start_in(self.dir.path(), self.port, &self.write_config(lines))
    }

    /// Writes a configuration with these lines; returns the options that select it.
    pub(crate) fn write_config(&self, lines: &str) -> String {
        let port = self.port;
        let config = format!(
            "data = \"data\"\nlisten = \"127.0.0.1:{port}\"\nplain_http_on_loopback = true\n{lines}\n"
        );
        std::fs::write(self.dir.path().join("server.toml"), config).unwrap();
        "--config server.toml".to_owned()
    }

    /// A proxy of about this many bytes; another seed gives other rows.
    pub(crate) fn proxy(&self, seed: u64, bytes: usize) -> String {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        let mut text = header(&self.schema);
        while text.len() < bytes {
            for _ in 0..N_FEATURES {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let value = (state >> 40) as f64 / 4e6 - 2.0;
                text += &format!("{value:.6},");
            }
            text += if state & 1 << 50 == 0 { "0," } else { "1," };
            text += if state & 1 << 51 == 0 { "-1\n" } else { "1\n" };
        }
        text
    }

    /// The columns of a proxy.
    pub(crate) fn columns(&self) -> Vec<String> {
        header(&self.schema).trim_end().split(',').map(str::to_owned).collect()
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The head of a client's signed request.
    pub(crate) fn head(
        &self,
        client: usize,
        kind: TableKind,
        length: u64,
        sha256: Digest,
    ) -> String {
        self.head_of(client, &self.manifest(client, kind, length, sha256), 0)
    }

    /// The same for any manifest, with a body that starts at this offset of the file.
    pub(crate) fn head_of(&self, client: usize, manifest: &Manifest, offset: u64) -> String {
        let resumes = match offset {
            0 => String::new(),
            offset => format!("{OFFSET_HEADER}: {offset}\r\n"),
        };
        format!(
            "PUT /v1/rounds/spring/submissions/client-{client} HTTP/1.1\r\n{}{resumes}\
             content-type: {}\r\ncontent-length: {}\r\n\r\n",
            self.signed(client, manifest),
            manifest.media_type.media_type(),
            manifest.length - offset,
        )
    }

    /// A client's signed request for its receipt (no suffix) or the progress of its upload (`/upload`).
    pub(crate) fn query(&self, client: usize, manifest: &Manifest, suffix: &str) -> String {
        format!(
            "GET /v1/rounds/spring/submissions/client-{client}{suffix} HTTP/1.1\r\n{}\r\n",
            self.signed(client, manifest)
        )
    }

    pub(crate) fn manifest(
        &self,
        client: usize,
        media_type: TableKind,
        length: u64,
        sha256: Digest,
    ) -> Manifest {
        Manifest {
            audience: self.audience.clone(),
            round: "spring".parse().unwrap(),
            client: self.keys[client].name().clone(),
            media_type,
            length,
            sha256,
            schema_sha256: self.schema.digest(),
        }
    }

    fn signed(&self, client: usize, manifest: &Manifest) -> String {
        format!(
            "host: localhost\r\nconnection: close\r\n{MANIFEST_HEADER}: {}\r\n{SIGNATURE_HEADER}: {}\r\n",
            manifest.to_header(),
            manifest.sign(&self.keys[client]),
        )
    }

    /// The coordinator's view of the clients.
    pub(crate) fn clients(&self) -> Value {
        let request = format!(
            "GET /v1/rounds/spring/clients HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             authorization: Bearer {}\r\n\r\n",
            self.token
        );
        self.wire.send(&[request.as_bytes()]).json()
    }

    /// Runs the binary in the fleet's folder; returns whether it succeeded, and its output.
    pub(crate) fn run(&self, arguments: &str) -> (bool, String) {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args(arguments.split_whitespace())
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Sends a signed file; returns the status and the reply.
    pub(crate) fn put(&self, client: usize, kind: TableKind, body: &[u8]) -> (u16, Value) {
        let head = self.head(client, kind, body.len() as u64, Digest::of(body));
        send(self.port, &[head.as_bytes(), body])
    }
}

/// Sends pieces and reads the reply; the status is 0 if there is no reply.
pub(crate) fn send(port: u16, pieces: &[&[u8]]) -> (u16, Value) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(180))).unwrap();
    for piece in pieces {
        // The server may refuse before the whole body is sent.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// Resident memory of a process in MiB, now and at its peak.
pub(crate) fn resident(pid: u32) -> (f64, f64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.unwrap_or(0.0) / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Peak resident memory of any child of a process so far, in MiB.
pub(crate) fn resident_children(pid: u32) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|children| {
            children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        })
        .map(|child| resident(child).1)
        .fold(0.0, f64::max)
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

fn header(schema: &Schema) -> String {
    format!("{},group,passed\n", schema.encoded_names().join(","))
}

fn raw_row(seed: usize, group: &str, passed: u8) -> String {
    let values: Vec<String> =
        (0..N_FEATURES).map(|i| format!("{}", (seed * 7 + i * 3) % 5)).collect();
    format!("{},{group},{passed}\n", values.join(","))
}
