//! Requests of strangers and careless clients.

use std::fs;
use std::time::{Duration, Instant};

use equipoise_round::{Order, PrivateKey, Pull};
use jiff::{SignedDuration, Timestamp};

use crate::world::{World, key, sealed, sealed_file};

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

#[test]
fn strangers_learn_nothing_and_store_nothing() {
    let mut world = World::new(false);
    world.start();
    let invitation = world.invitation("spring", 2);
    let remote = world.remote(&invitation);
    remote.put(&invitation.document, None).unwrap();
    let address = format!("/rounds/{}", invitation.digest);
    let nowhere = format!("/rounds/{}", "0".repeat(64));
    let good = sealed(&invitation, 0, 50);
    // A wrong signature and an unknown round answer alike.
    let text = String::from_utf8_lossy(&good[..700]).replacen("client-0", "client-1", 1);
    let forged = [text.as_bytes(), &good[700..]].concat();
    let wrong = world.request(&format!("PUT {address}"), &forged);
    let unknown = world.request(&format!("PUT {nowhere}"), &good);
    assert_eq!(status(&wrong), "403", "{wrong}");
    assert_eq!(body(&wrong), body(&unknown));
    assert_eq!(status(&world.request(&format!("PUT {address}"), b"hello")), "400");
    assert_eq!(status(&world.request(&format!("PUT {address}"), &good[..good.len() - 1])), "400");
    assert_eq!(
        status(&world.request(&format!("PUT {address}"), &[&good[..], b"x"].concat())),
        "400"
    );
    let taken = world.request(&format!("PUT {address}"), &good);
    assert_eq!(status(&taken), "200", "{taken}");
    // Only the coordinator pulls, and only with a fresh request.
    let pull = |at: Timestamp, by: &PrivateKey| {
        let order = Pull { at, blob: None }.sign(&invitation, by).to_string();
        let answer = world.request(&format!("POST {address}/pull"), order.as_bytes());
        status(&answer).to_owned()
    };
    let now = Timestamp::now();
    assert_eq!(pull(now, &world.coordinator), "200");
    assert_eq!(pull(now, &key(0)), "403");
    assert_eq!(pull(now - SignedDuration::from_mins(11), &world.coordinator), "403");
    let page = world.request(&format!("GET {address}"), b"");
    assert!(page.contains("1 of 2") && !page.contains("client-0") && !page.contains("spring"));
    let log = format!("{address}/files/log.jsonl");
    for path in [nowhere.as_str(), "/", "/rounds", &log, "/rounds/../x"] {
        let answer = world.request(&format!("GET {path}"), b"");
        assert_eq!(status(&answer), "404", "{path}");
        for header in ["content-security-policy", "x-content-type-options: nosniff", "no-store"] {
            assert!(answer.contains(header), "{path} has no {header}");
        }
    }
    let evil =
        world.raw(b"GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(status(&evil), "421");
    let twice = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(["400", "421"].contains(&status(&world.raw(twice))));
    // Another coordinator's round is not taken.
    let mut terms = invitation.terms.clone();
    let other = key(9);
    terms.coordinator = other.public();
    let foreign = equipoise_round::Invitation::sign(terms, &other).unwrap();
    let answer = world.request(
        &format!("PUT /rounds/{}", foreign.digest),
        foreign.document.to_string().as_bytes(),
    );
    assert_eq!(status(&answer), "403");
}

#[test]
fn slow_heads_are_cut_off_while_an_honest_upload_goes_through() {
    use std::io::{Read as _, Write as _};
    let mut world = World::new(false);
    world.start();
    let invitation = world.invitation("spring", 1);
    let remote = world.remote(&invitation);
    remote.put(&invitation.document, None).unwrap();
    let started = Instant::now();
    let mut slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(world.listen).unwrap();
            stream.write_all(b"GET /health HTTP/1.1\r\nHost: loc").unwrap();
            stream
        })
        .collect();
    let file = sealed_file(world.folder.path(), &invitation, 0, 1000);
    equipoise_round::client::deliver(&file, &invitation, &remote).unwrap();
    assert!(started.elapsed() < Duration::from_secs(8));
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    let seconds = started.elapsed().as_secs();
    assert!((9..25).contains(&seconds), "cut off after {seconds} s");
}

#[test]
fn a_damaged_round_does_not_stop_the_others() {
    let mut world = World::new(false);
    world.start();
    let (good, bad) = (world.invitation("good", 1), world.invitation("bad", 1));
    for invitation in [&good, &bad] {
        world.remote(invitation).put(&invitation.document, None).unwrap();
        let file = sealed_file(world.folder.path(), invitation, 0, 500);
        equipoise_round::client::deliver(&file, invitation, &world.remote(invitation)).unwrap();
    }
    world.stop();
    let path = world.round_path(&bad);
    let mut bytes = fs::read(&path).unwrap();
    let sealed_bytes = fs::read(world.folder.path().join("0-500.sealed")).unwrap();
    let needle = &sealed_bytes[sealed_bytes.len() - 32..];
    let at = bytes.windows(32).position(|window| window == needle).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    world.start();
    let answer = |invitation: &equipoise_round::Invitation| {
        let answer = world.request(&format!("GET /rounds/{}", invitation.digest), b"");
        status(&answer).to_owned()
    };
    assert_eq!((answer(&good).as_str(), answer(&bad).as_str()), ("200", "503"));
    let put = sealed(&bad, 0, 10);
    let refused = world.request(&format!("PUT /rounds/{}", bad.digest), &put);
    assert_eq!(status(&refused), "503");
    assert!(refused.contains("operator has to restore"), "{refused}");
    let file = sealed_file(world.folder.path(), &good, 0, 501);
    equipoise_round::client::deliver(&file, &good, &world.remote(&good)).unwrap();
    assert!(world.request("GET /health", b"").contains("\"damaged\":1"));
}

#[test]
fn orders_by_the_coordinator_are_receipted_and_others_refused() {
    let mut world = World::new(false);
    world.start();
    let invitation = world.invitation("spring", 2);
    let remote = world.remote(&invitation);
    remote.put(&invitation.document, None).unwrap();
    let client = "client-1".parse().unwrap();
    let order = Order::Revoke { client, reason: "stolen key".into() };
    let forged = remote.put(&order.sign(&invitation, &key(0)), None).unwrap_err().to_string();
    assert!(forged.contains("no round at this address accepts this"), "{forged}");
    remote.put(&order.sign(&invitation, &world.coordinator), None).unwrap();
    let file = sealed_file(world.folder.path(), &invitation, 1, 10);
    let revoked = equipoise_round::client::deliver(&file, &invitation, &remote).unwrap_err();
    assert!(revoked.to_string().contains("`client-1` was revoked"), "{revoked}");
}
