//! `submit --server-key`: nothing is sent to a server with another key, and only a genuine receipt is saved.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use equipoise_server::protocol::{
    Digest, PROGRAM, PrivateKey, Receipt, SignedReceipt, SignedServerHead,
};
use serde_json::Value;

use crate::server::{Server, at, set_up};
use crate::world::{Run, World};

const RECEIPT: &str = "spring-north.receipt.json";

fn submit(world: &World, port: u16, to: u16, more: &str) -> Run {
    let audience = format!("--audience http://127.0.0.1:{port} --retries 0");
    world.run(&format!("submit proxies/north.parquet --key north.key {} {audience} {more}", at(to)))
}

fn n_submissions(world: &World, port: u16) -> u64 {
    let status = world.run(&format!("status {} --json", at(port))).expect(0).json();
    status["n_submissions"].as_u64().unwrap()
}

#[test]
fn the_receipt_records_whether_the_key_was_pinned() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    submit(&world, port, port, "--server-key north.pub")
        .expect(2)
        .says(&["but --server-key is", "Nothing was sent"]);
    assert_eq!(n_submissions(&world, port), 0);
    assert!(!world.path(RECEIPT).exists());

    submit(&world, port, port, "").expect(0).says(&["note: the server's key is not pinned"]);
    assert_eq!(world.json(RECEIPT)["server_key_pinned"], false);
    let run = submit(&world, port, port, "--server-key data/server.pub").expect(0);
    assert!(!run.stderr.contains("pinned"), "{}", run.stderr);
    assert_eq!(world.json(RECEIPT)["server_key_pinned"], true);
    // The same receipt again does not lose that.
    submit(&world, port, port, "").expect(0);
    assert_eq!(world.json(RECEIPT)["server_key_pinned"], true);
}

#[test]
fn a_server_that_cannot_sign_with_the_pinned_key_gets_nothing() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    let pinned = "--server-key data/server.pub";
    let own = PrivateKey::from_seed("server".parse().unwrap(), [7; 32]);

    let public = own.public().to_string();
    let other_key = man_in_the_middle(port, move |path, body| match path {
        "/v1/rounds/spring" => {
            let mut info: Value = serde_json::from_slice(&body).unwrap();
            info["server_key"] = public.clone().into();
            info.to_string().into_bytes()
        }
        _ => body,
    });
    submit(&world, port, other_key, pinned).expect(2).says(&["Nothing was sent"]);

    let other_head = man_in_the_middle(port, move |path, body| match path {
        "/v1/head" => {
            let signed: SignedServerHead = serde_json::from_slice(&body).unwrap();
            serde_json::to_vec(&signed.head.sign(&own)).unwrap()
        }
        _ => body,
    });
    let run = submit(&world, port, other_head, pinned).expect(2);
    run.says(&["its signed list of rounds is not signed with it", "Nothing was sent"]);
    assert_eq!(n_submissions(&world, port), 0);
    assert!(!world.path(RECEIPT).exists());
}

#[test]
fn a_receipt_that_is_not_genuine_is_rejected_and_not_saved() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    let genuine = PrivateKey::from_line(&world.read("data/server.key")).unwrap();
    let other = PrivateKey::from_seed("server".parse().unwrap(), [7; 32]);
    type Change = fn(&mut Receipt);
    // The change, the key that signs it again, and the message.
    let cases: Vec<(Change, Option<&PrivateKey>, &str)> = vec![
        (|_| {}, Some(&other), "it is signed with another key"),
        (|r| r.rows += 1, None, "its signature is invalid"),
        (|r| r.seq += 1, None, "its signature is invalid"),
        (|r| r.chain_head = Digest::ZERO, None, "its signature is invalid"),
        (|r| r.canonical_sha256 = Digest::ZERO, None, "its signature is invalid"),
        (|r| r.received_at = "2020-01-01T00:00:00Z".parse().unwrap(), None, "its signature is"),
        (|r| r.audience = "https://other.example".into(), Some(&genuine), "for another server"),
        (|r| r.round = "autumn".parse().unwrap(), Some(&genuine), "it is for another round"),
        (|r| r.client = "south".parse().unwrap(), Some(&genuine), "it is for another client"),
        (|r| r.sha256 = Digest::ZERO, Some(&genuine), "it is for another file"),
        (|r| r.rows += 1, Some(&genuine), "it states another number of rows"),
        (|r| r.distinct_rows -= 1, Some(&genuine), "it states another number of distinct rows"),
        (|r| r.canonical_sha256 = Digest::ZERO, Some(&genuine), "its canonical table is not"),
    ];
    for (change, key, problem) in cases {
        let key = key.cloned();
        let between = man_in_the_middle(port, move |path, body| {
            if path != "/v1/rounds/spring/submissions/north" {
                return body;
            }
            let mut signed: SignedReceipt = serde_json::from_slice(&body).unwrap();
            change(&mut signed.receipt);
            if let Some(key) = &key {
                signed = signed.receipt.sign(key);
            }
            serde_json::to_vec(&signed).unwrap()
        });
        for pin in ["", "--server-key data/server.pub"] {
            let run = submit(&world, port, between, pin).expect(2);
            run.says(&["the server's receipt is worthless and was not saved", problem]);
            assert!(!world.path(RECEIPT).exists(), "{problem}");
        }
    }
    submit(&world, port, port, "--server-key data/server.pub").expect(0);
}

#[test]
fn the_canonical_table_of_another_version_is_not_compared() {
    let world = World::with_proxies();
    let port = set_up(&world);
    let _server = Server::start(&world, port, "");
    let genuine = PrivateKey::from_line(&world.read("data/server.key")).unwrap();
    let other_version = man_in_the_middle(port, move |path, body| match path {
        "/v1/rounds/spring" => {
            let mut info: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(info["program"], PROGRAM);
            info["program"] = "equipoise 9.9.9".into();
            info.to_string().into_bytes()
        }
        "/v1/rounds/spring/submissions/north" => {
            let mut signed: SignedReceipt = serde_json::from_slice(&body).unwrap();
            signed.receipt.canonical_sha256 = Digest::ZERO;
            serde_json::to_vec(&signed.receipt.sign(&genuine)).unwrap()
        }
        _ => body,
    });
    submit(&world, port, other_version, "").expect(0).says(&[
        "note: the server's table could not be compared",
        "equipoise 9.9.9",
        PROGRAM,
    ]);
    assert!(world.path(RECEIPT).exists());
    // The same version says nothing of the kind.
    std::fs::remove_file(world.path(RECEIPT)).unwrap();
    let run = submit(&world, port, port, "").expect(0);
    assert!(!run.stderr.contains("could not be compared"), "{}", run.stderr);
}

/// A server that forwards requests to a port and may change the body of a reply, given the path.
fn man_in_the_middle(
    to: u16,
    change: impl Fn(&str, Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let change = Arc::new(change);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let change = Arc::clone(&change);
            std::thread::spawn(move || forward_one(client, to, change.as_ref()));
        }
    });
    port
}

/// Forwards one request, then closes the connection.
fn forward_one(mut client: TcpStream, to: u16, change: &dyn Fn(&str, Vec<u8>) -> Vec<u8>) {
    let (head, mut body) = read_head(&mut client);
    let lower = head.to_lowercase();
    let length = header(&lower, "content-length").map_or(0, |text| text.parse().unwrap());
    if header(&lower, "expect").is_some() {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    }
    while body.len() < length {
        let mut piece = [0; 16 << 10];
        let n = client.read(&mut piece).unwrap();
        body.extend_from_slice(&piece[..n]);
    }
    let kept = head.lines().filter(|line| {
        let line = line.to_lowercase();
        !line.starts_with("expect:") && !line.starts_with("connection:")
    });
    let request: String = kept.map(|line| format!("{line}\r\n")).collect();
    let mut server = TcpStream::connect(("127.0.0.1", to)).unwrap();
    server.write_all(format!("{request}connection: close\r\n\r\n").as_bytes()).unwrap();
    server.write_all(&body).unwrap();
    let (reply, mut content) = read_head(&mut server);
    server.read_to_end(&mut content).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let is_success = reply.starts_with("HTTP/1.1 20");
    let content = if is_success { change(path, content) } else { content };
    let status = reply.lines().next().unwrap();
    let answer = format!(
        "{status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        content.len()
    );
    let _ = client.write_all(answer.as_bytes()).and_then(|()| client.write_all(&content));
}

/// The head of a message, and what was read of its body.
fn read_head(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let n = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..n]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            return (head, bytes[end + 4..].to_vec());
        }
        assert!(n > 0, "no head");
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).map(str::to_owned)
}
