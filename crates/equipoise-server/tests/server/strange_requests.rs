//! Sends valid and malformed requests, generated from the served description with a fixed seed, over real connections.
//! The server must not fail, and every answer must be described.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use equipoise_server::Limits;
use equipoise_server::http::{Listening, router, serve};
use equipoise_server::protocol::{
    MANIFEST_HEADER, Manifest, OFFSET_HEADER, RoundState, SIGNATURE_HEADER,
};
use equipoise_server::store::RealDisk;
use serde_json::Value;

use crate::json_schema::problems;
use crate::world::{CLIENTS, World, key, manifest, name, proxy, request, scaled};

/// hyper's own answers to a malformed or oversized request head, without a document.
const HYPER_STATUSES: [u16; 3] = [400, 414, 431];

const ODD_SEGMENTS: [&str; 22] = [
    "",
    ".",
    "..",
    "%2e%2e",
    "..%2f..%2fserver.key",
    "%00",
    "%ff%fe",
    "%",
    "%zz",
    "a%20b",
    "a+b",
    "Ä",
    "%C3%84",
    "%F0%9F%A6%80",
    "spring;x=1",
    "spring?x=1",
    "spring#x",
    "'%20OR%201=1--",
    "<script>",
    "spring%00",
    "SPRING",
    "-spring",
];
const ODD_VALUES: [&str; 12] = [
    "",
    " ",
    "0",
    "-1",
    "18446744073709551616",
    "1e9",
    "nan",
    "\u{fc}\u{1f980}",
    "%00",
    "AAAA",
    "Bearer",
    "null",
];
const METHODS: [&str; 10] =
    ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "get"];
const MEDIA_TYPES: [&str; 7] = [
    "text/csv",
    "application/gzip",
    "application/vnd.apache.parquet",
    "application/json",
    "text/csv; charset=x",
    "\"",
    "multipart/form-data",
];

/// The coordinators' tokens, by round.
type Tokens = BTreeMap<&'static str, String>;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

/// A request, and whether it must reach its operation.
struct Strange {
    head: Vec<u8>,
    body: Vec<u8>,
    is_operation: bool,
    is_head: bool,
}

fn segment(random: &mut Random, valid: &[&str], clean: &mut bool) -> String {
    if random.below(10) < 6 {
        return random.pick(valid).to_owned();
    }
    let odd = match random.below(4) {
        0 => "x".repeat(1 + random.below(9000)),
        1 => "%41".repeat(1 + random.below(90)),
        _ => random.pick(&ODD_SEGMENTS).to_owned(),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    *clean &= !odd.is_empty() && odd.bytes().all(plain);
    odd
}

fn body(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0 => Vec::new(),
        1 | 2 => proxy(1).into_bytes(),
        7 => b"{\"round\": [}".to_vec(),
        3 => b"score,group,passed\n1,2,3\n".to_vec(),
        4 => format!("score,group,passed\n{}\n", "9".repeat(random.below(5000))).into_bytes(),
        _ => {
            let n = random.below(3000);
            random.bytes(n)
        }
    }
}

/// The rounds for an operation. Operations that end a round have their own.
fn rounds_for(path: &str) -> &'static [&'static str] {
    match path.rsplit('/').next() {
        Some("open") => &["draft"],
        Some("close") => &["closing"],
        Some("abort") => &["aborting"],
        Some("revoke") => &["revoking"],
        _ => &["spring", "published"],
    }
}

fn strange(random: &mut Random, path: &str, method: &str, tokens: &Tokens) -> Strange {
    let mut clean = true;
    let rounds = rounds_for(path);
    let round = segment(random, rounds, &mut clean);
    let client = segment(random, &CLIENTS, &mut clean);
    let file = segment(random, &["model.json", "audit.jsonl", "statement.json"], &mut clean);
    let address =
        path.replace("{round}", &round).replace("{client}", &client).replace("{file}", &file);
    let own = method.to_uppercase();
    let sent = if random.one_in(8) { random.pick(&METHODS).to_owned() } else { own.clone() };
    let query = if random.one_in(10) { "?a=%ff&b[]=1" } else { "" };
    let body = body(random);
    let mut head =
        format!("{sent} {address}{query} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    let mut header = |name: &str, value: &str| head += &format!("{name}: {value}\r\n");
    let mut media_type = random.pick(&MEDIA_TYPES);
    if random.below(3) > 0 {
        let own = CLIENTS.iter().find(|own| **own == client && !random.one_in(4));
        let client = own.copied().unwrap_or_else(|| random.pick(&CLIENTS));
        let mut signed: Manifest = manifest(client, &body);
        let own = rounds.iter().find(|own| **own == round && !random.one_in(4));
        signed.round = name(own.copied().unwrap_or_else(|| random.pick(rounds)));
        if random.one_in(8) {
            signed.length = random.below(1 << 40) as u64;
        }
        let mut text = signed.to_header();
        let mut signature = signed.sign(&key(client)).to_string();
        match random.below(12) {
            0 => text.truncate(random.below(text.len())),
            1 => signature.truncate(random.below(signature.len())),
            2 => text = random.pick(&ODD_VALUES).to_owned(),
            3 => signature = random.pick(&ODD_VALUES).to_owned(),
            4 => text = "A".repeat(random.below(20_000)),
            _ => media_type = "text/csv",
        }
        header(MANIFEST_HEADER, &text);
        header(SIGNATURE_HEADER, &signature);
    }
    let token = tokens.get(round.as_str()).filter(|_| random.one_in(3));
    if let Some(token) = token {
        header("authorization", &format!("Bearer {token}"));
    } else if random.one_in(4) {
        header("authorization", random.pick(&ODD_VALUES));
    }
    if random.one_in(8) {
        header(OFFSET_HEADER, random.pick(&ODD_VALUES));
    }
    if random.one_in(12) {
        header("content-encoding", random.pick(&["gzip", "identity", "br", ""]));
    }
    if !random.one_in(6) {
        header("content-type", media_type);
    }
    if random.one_in(10) {
        header("accept", random.pick(&["application/xml", "*/*;q=x", ""]));
    }
    if random.one_in(30) {
        header("transfer-encoding", "chunked");
    } else if !random.one_in(12) {
        header("content-length", &body.len().to_string());
    }
    head += "\r\n";
    Strange {
        head: head.into_bytes(),
        body,
        is_operation: clean && sent == own,
        is_head: sent == "HEAD",
    }
}

/// Status, media type and body; `None` if the server hung up. An event stream is not read to its end.
fn send(address: SocketAddr, request: &Strange) -> Option<(u16, String, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may answer before it has read everything.
    let _ = stream.write_all(&request.head).and_then(|()| stream.write_all(&request.body));
    let mut bytes = Vec::new();
    let mut piece = [0; 16384];
    loop {
        let n = match stream.read(&mut piece) {
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("no answer: {error}: {}", String::from_utf8_lossy(&request.head)),
        };
        bytes.extend_from_slice(&piece[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            match n {
                0 => return None,
                _ => continue,
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let value = |name: &str| {
            let found = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            found.map(str::to_owned)
        };
        let length = value("content-length").map_or(0, |text| text.parse().unwrap());
        let done = request.is_head || bytes.len() >= end + 4 + length;
        // A server that closes before it has read the whole request resets the connection, and the rest of a long
        // answer may be lost.
        if n == 0 && !done {
            return None;
        }
        if done {
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            return Some((
                status,
                value("content-type").unwrap_or_default(),
                bytes[end + 4..].to_vec(),
            ));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arbitrary_requests_never_fail_and_are_answered_as_described() {
    let world = World::new();
    let mut tokens = Tokens::from([("spring", world.token.clone())]);
    for round in ["published", "closing", "aborting", "revoking"] {
        tokens.insert(round, world.add_round(round, |new| new.minimum = 1));
    }
    tokens.insert("draft", world.add_draft("draft", |_| {}));
    let limits = Limits {
        failed_authentications_per_minute: usize::MAX,
        header_timeout_seconds: 2,
        ..Limits::default()
    };
    let server = world.start_with(Arc::new(RealDisk), limits);
    for (round, client) in [("closing", "north"), ("published", "north"), ("published", "south")] {
        let body = proxy(1).into_bytes();
        let signed = Manifest { round: name(round), ..manifest(client, &body) };
        assert_eq!(server.send(request(&signed, &key(client), body)).await.status, 201);
    }
    let close = axum::http::Request::post("/v1/rounds/published/close")
        .header("authorization", format!("Bearer {}", tokens["published"]));
    assert_eq!(server.send(close.body(axum::body::Body::empty()).unwrap()).await.status, 200);
    while server.store.round(&name("published")).unwrap().state != RoundState::Published {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let router = router(Arc::clone(&server.app));
    let listening = Listening { listener, tls: None, router, connections: 100 };
    let serving = tokio::spawn(serve(Arc::clone(&server.app), listening, std::future::pending()));

    let document = server.get("/v1/openapi.json").await.json;
    let counts =
        tokio::task::spawn_blocking(move || send_many(address, &document, &tokens)).await.unwrap();
    serving.abort();
    // Every operation has seen both outcomes.
    assert!(counts.iter().all(|(found, refused)| *found > 0 && *refused > 0), "{counts:?}");
    assert_eq!(server.get("/v1/rounds").await.status, 200);
}

/// Numbers of successes and refusals for each operation.
fn send_many(address: SocketAddr, document: &Value, tokens: &Tokens) -> Vec<(usize, usize)> {
    let mut random = Random(20_270_301);
    let mut counts = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap();
            let (mut succeeded, mut refused) = (0, 0);
            for _ in 0..scaled(100, 3000) {
                let request = strange(&mut random, path, method, tokens);
                let context = || String::from_utf8_lossy(&request.head).into_owned();
                let Some((status, media_type, body)) = send(address, &request) else {
                    refused += 1;
                    continue;
                };
                if status < 300 {
                    succeeded += 1
                } else {
                    refused += 1
                }
                assert!(status < 500 || matches!(status, 503 | 507), "{status}: {}", context());
                let media_type = media_type.split(';').next().unwrap_or_default().trim();
                let has_document = media_type == "application/json";
                let response = match responses.get(&status.to_string()) {
                    Some(response) => response,
                    None if !request.is_operation && matches!(status, 404 | 405) => {
                        assert!(has_document, "{status} without a document: {}", context());
                        continue;
                    }
                    None if HYPER_STATUSES.contains(&status) && !has_document => continue,
                    // Another operation on the same path.
                    None if !request.is_operation => continue,
                    None => panic!("{status} is not described: {}", context()),
                };
                let content = response["content"].as_object().unwrap();
                let known = content.contains_key(media_type);
                assert!(
                    known || !request.is_operation || HYPER_STATUSES.contains(&status),
                    "{status} as {media_type}: {}",
                    context()
                );
                if has_document && request.is_operation && !request.is_head {
                    let body = serde_json::from_slice(&body).unwrap();
                    let found = problems(document, &content["application/json"]["schema"], &body);
                    assert!(
                        found.is_empty() || path.ends_with("{file}"),
                        "{found:?}: {}",
                        context()
                    );
                }
            }
            counts.push((succeeded, refused));
        }
    }
    counts
}
