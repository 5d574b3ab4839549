//! A data directory with one or two rounds of three clients, and a router on top.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use equipoise_core::{Fairness, Settings};
use equipoise_data::{Schema, TableKind};
use equipoise_server::http::{App, Peer, admin_router, router};
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, NameError, PrivateKey, RoundState, SIGNATURE_HEADER,
};
use equipoise_server::round::Rounds;
use equipoise_server::store::{
    DataFolder, Disk, NewRound, RealDisk, Store, StoreError, StoreParts,
};
use equipoise_server::validator::{InProcess, Validator};
use equipoise_server::{Limits, MockClock};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::fuzz_targets::SCHEMA;

pub(crate) const CLIENTS: [&str; 3] = ["east", "north", "south"];
pub(crate) const AUDIENCE: &str = "https://round.example.org";

/// The size of a long test: `few`, or `full` with `EQUIPOISE_FULL=1`.
pub(crate) fn scaled(few: usize, full: usize) -> usize {
    if std::env::var_os("EQUIPOISE_FULL").is_some() { full } else { few }
}

pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) clock: Arc<MockClock>,
    pub(crate) token: String,
}

/// A running server.
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) rounds: Arc<Rounds>,
    pub(crate) store: Arc<Store>,
    router: Router,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: Value,
    pub(crate) bytes: Vec<u8>,
}

fn panic_on_disk_failure(what: &str) -> ! {
    panic!("the disk failed: {what}")
}

impl World {
    /// An open round `spring` without a deadline.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A published round of all clients, without a server.
    pub(crate) async fn published() -> Self {
        let world = Self::new();
        let server = world.start();
        for (i, client) in CLIENTS.iter().enumerate() {
            assert_eq!(server.submit(client, proxy(i as u64)).await.status, 201);
        }
        assert_eq!(server.wait(), RoundState::Published);
        drop(server);
        // Threads of the server may still be closing the database, which removes files. This waits for its lock.
        drop(world.open_store(Arc::new(RealDisk)).unwrap());
        world
    }

    pub(crate) fn with(change: impl Fn(&mut NewRound)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let roots = dir.path().join("roots");
        std::fs::create_dir(&roots).unwrap();
        for (i, client) in CLIENTS.iter().enumerate() {
            std::fs::write(roots.join(format!("{client}.csv")), root(i as u64)).unwrap();
        }
        let mut world = Self { dir, clock: Arc::default(), token: String::new() };
        world.token = world.add_round("spring", change);
        world
    }

    pub(crate) fn add_round(&self, round: &str, change: impl Fn(&mut NewRound)) -> String {
        let token = self.add_draft(round, change);
        let store = self.open_store(Arc::new(RealDisk)).unwrap();
        store.open_round(&round.parse().unwrap()).unwrap();
        token
    }

    pub(crate) fn add_draft(&self, round: &str, change: impl Fn(&mut NewRound)) -> String {
        let store = self.open_store(Arc::new(RealDisk)).unwrap();
        let mut new = NewRound {
            round: round.parse().unwrap(),
            audience: AUDIENCE.into(),
            schema: schema(),
            roster: CLIENTS.iter().map(|client| key(client).public()).collect(),
            roots: self.dir.path().join("roots"),
            settings: Settings::new(Fairness::SP),
            minimum: 2,
            deadline: None,
            limits: SubmissionLimits::default(),
        };
        change(&mut new);
        store.create_round(new).unwrap()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn open_store(&self, disk: Arc<dyn Disk>) -> Result<Store, StoreError> {
        // The threads of a server that was just dropped may still hold the lock.
        let mut folder = DataFolder::open(&self.data());
        for _ in 0..200 {
            if !matches!(folder, Err(StoreError::Locked(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
            folder = DataFolder::open(&self.data());
        }
        let clock = Arc::clone(&self.clock);
        let parts =
            StoreParts { disk, clock, fatal: panic_on_disk_failure, ..StoreParts::default() };
        Store::open(folder?, parts)
    }

    pub(crate) fn start(&self) -> Server {
        self.start_with(Arc::new(RealDisk), Limits::default())
    }

    pub(crate) fn start_with(&self, disk: Arc<dyn Disk>, limits: Limits) -> Server {
        self.start_with_validator(disk, limits, Arc::new(InProcess))
    }

    pub(crate) fn start_with_validator(
        &self,
        disk: Arc<dyn Disk>,
        limits: Limits,
        validator: Arc<dyn Validator>,
    ) -> Server {
        let store = Arc::new(self.open_store(disk).unwrap());
        let rounds = Rounds::start(Arc::clone(&store), validator, limits).unwrap();
        let rounds = Arc::new(rounds);
        let app = Arc::new(App::new(Arc::clone(&rounds), limits));
        Server { router: router(Arc::clone(&app)), app, rounds, store }
    }

    /// All files in `uploads/`.
    pub(crate) fn parts(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for round in std::fs::read_dir(self.data().join("uploads")).unwrap() {
            for entry in std::fs::read_dir(round.unwrap().path()).unwrap() {
                found.push(entry.unwrap().path());
            }
        }
        found
    }
}

impl Server {
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes().to_vec();
        Answer { status, json: serde_json::from_slice(&bytes).unwrap_or_default(), bytes }
    }

    /// The response, with an unread body.
    pub(crate) async fn stream(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Status and text of a monitoring route.
    pub(crate) async fn get_admin(&self, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = admin_router(Arc::clone(&self.app)).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn submit(&self, client: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.send(submission(client, body.into())).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str) -> Answer {
        let request = Request::post(format!("/v1/rounds/spring/{path}"))
            .header("authorization", format!("Bearer {token}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) fn n_submissions(&self) -> usize {
        self.store.submissions(&name("spring")).unwrap().len()
    }

    pub(crate) fn state(&self) -> RoundState {
        self.store.round(&name("spring")).unwrap().state
    }

    /// Waits until the round is over.
    pub(crate) fn wait(&self) -> RoundState {
        let started = Instant::now();
        while !self.state().is_final() {
            assert!(started.elapsed() < Duration::from_secs(120), "still {}", self.state());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.state()
    }
}

/// A round or a client.
pub(crate) fn name<T: FromStr<Err = NameError>>(text: &str) -> T {
    text.parse().unwrap()
}

pub(crate) fn schema() -> Schema {
    Schema::from_toml(SCHEMA, Path::new("schema.toml")).unwrap()
}

pub(crate) fn key(client: &str) -> PrivateKey {
    let seed = *client.as_bytes().first().unwrap();
    PrivateKey::from_seed(name(client), [seed; 32])
}

pub(crate) fn manifest(client: &str, body: &[u8]) -> Manifest {
    Manifest {
        audience: AUDIENCE.into(),
        round: name("spring"),
        client: name(client),
        media_type: TableKind::Csv,
        length: body.len() as u64,
        sha256: Digest::of(body),
        schema_sha256: schema().digest(),
    }
}

/// A valid submission.
pub(crate) fn submission(client: &str, body: Vec<u8>) -> Request<Body> {
    let manifest = manifest(client, &body);
    request(&manifest, &key(client), body)
}

/// A submission with this manifest.
pub(crate) fn request(manifest: &Manifest, key: &PrivateKey, body: Vec<u8>) -> Request<Body> {
    let address = format!("/v1/rounds/{}/submissions/{}", manifest.round, manifest.client);
    Request::put(address)
        .header(MANIFEST_HEADER, manifest.to_header())
        .header(SIGNATURE_HEADER, manifest.sign(key).to_string())
        .header("content-type", manifest.media_type.media_type())
        .header("content-length", body.len())
        .extension(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)))
        .body(Body::from(body))
        .unwrap()
}

/// A small proxy that depends on the seed.
pub(crate) fn proxy(seed: u64) -> String {
    let rows: Vec<String> = rows(seed, 40)
        .into_iter()
        .map(|(x, s, y)| format!("{x},{},{}", u8::from(s), if y { 1 } else { -1 }))
        .collect();
    format!("score,group,passed\n{}\n", rows.join("\n"))
}

fn root(seed: u64) -> String {
    let rows: Vec<String> = rows(1000 + seed, 20)
        .into_iter()
        .map(|(x, s, y)| format!("{x},{},{}", if s { "A" } else { "B" }, u8::from(y)))
        .collect();
    format!("score,group,passed\n{}\n", rows.join("\n"))
}

fn rows(seed: u64, n: usize) -> Vec<(f64, bool, bool)> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut unit = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n)
        .map(|i| {
            let x = (unit() * 4.0 - 2.0) * 1000.0;
            let x = x.round() / 1000.0;
            (x, i % 2 == 0, x + unit() * 2.0 - 1.0 > 0.0)
        })
        .collect()
}
