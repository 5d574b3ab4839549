//! A round with many clients that send raw requests over a socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use equipoise_core::{Fairness, Settings};
use equipoise_data::{Schema, TableKind};
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, Name, OFFSET_HEADER, PrivateKey, SIGNATURE_HEADER,
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
        Self::set_up(n_clients, false, None)
    }

    /// Clients that use TLS, or plain HTTP.
    pub(crate) fn over_tls(n_clients: usize, tls: bool) -> Self {
        Self::set_up(n_clients, tls, None)
    }

    /// A round that closes at a deadline.
    pub(crate) fn with_deadline(n_clients: usize, deadline: Timestamp) -> Self {
        Self::set_up(n_clients, false, Some(deadline))
    }

    fn set_up(n_clients: usize, tls: bool, deadline: Option<Timestamp>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let port = free_port();
        let wire = if tls { Wire::tls(port, dir.path()) } else { Wire::plain(port) };
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
        let folder = DataFolder::open(&dir.path().join("data")).unwrap();
        let store = Store::open(folder, StoreParts::default()).unwrap();
        let round: Name = "spring".parse().unwrap();
        let token = store
            .create_round(NewRound {
                round: round.clone(),
                audience: wire.url(),
                schema: schema.clone(),
                roster: keys.iter().map(PrivateKey::public).collect(),
                roots,
                settings: Settings::new(Fairness::SP),
                minimum: 1,
                deadline,
                limits: SubmissionLimits::default(),
            })
            .unwrap();
        store.open_round(&round).unwrap();
        Self { dir, port, wire, token, schema, keys }
    }

    pub(crate) fn start(&self, more: &str) -> Server {
        let options = format!("--data data --quiet {} {more}", self.wire.serve_options());
        Server::start_in(self.dir.path(), self.port, &options)
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
            audience: self.wire.url(),
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
