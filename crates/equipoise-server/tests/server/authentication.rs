//! Only rostered clients and the coordinator are admitted.

use axum::body::Body;
use axum::http::Request;
use equipoise_server::Limits;
use equipoise_server::protocol::{Digest, Manifest};
use equipoise_server::store::RealDisk;
use std::sync::Arc;

use crate::world::{World, key, manifest, name, proxy, request, submission};

/// Practically no limit on failed authentications.
fn lenient() -> Limits {
    Limits { failed_authentications_per_minute: 1000, ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_valid_signature_write_nothing() {
    let world = World::new();
    let server = world.start_with(Arc::new(RealDisk), lenient());
    let body = proxy(1).into_bytes();
    let own = manifest("north", &body);
    let unknown = Manifest { client: name("nobody"), ..own.clone() };
    let address = "/v1/rounds/spring/submissions/north";
    let mut answers = Vec::new();
    let plain = |method: &str, path: String| {
        Request::builder().method(method).uri(path).body(Body::from("x")).unwrap()
    };
    for path in [address.to_owned(), format!("{address}/upload")] {
        answers.push(server.send(plain("GET", path)).await);
    }
    answers.push(server.send(plain("PUT", address.into())).await);
    answers.push(server.send(request(&own, &key("south"), body.clone())).await);
    answers.push(server.send(request(&unknown, &key("nobody"), body.clone())).await);
    // A valid signature on another client's path.
    let (mut parts, sent) = submission("south", body.clone()).into_parts();
    parts.uri = address.parse().unwrap();
    answers.push(server.send(Request::from_parts(parts, sent)).await);
    for answer in &answers {
        assert_eq!(answer.status, 401);
        assert_eq!(answer.bytes, answers[0].bytes, "the answer leaks information");
    }
    for path in ["close", "abort", "open", "clients/north/revoke"] {
        let post = plain("POST", format!("/v1/rounds/spring/{path}"));
        assert_eq!(server.send(post).await.status, 401, "{path}");
        assert_eq!(server.post(path, "wrong").await.status, 401, "{path}");
    }
    assert_eq!(server.get("/v1/rounds/spring/clients").await.status, 401);
    assert_eq!(server.n_submissions(), 0);
    assert!(world.parts().is_empty());
    assert_eq!(server.store.audit_lines(&name("spring")).unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_refused_but_its_submission_stays() {
    let world = World::new();
    let server = world.start();
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    assert_eq!(server.post("clients/north/revoke", &world.token).await.status, 200);
    assert_eq!(server.post("clients/south/revoke", &world.token).await.status, 200);
    let refused = server.submit("south", proxy(2)).await;
    assert_eq!((refused.status, refused.json["code"].as_str()), (403, Some("key_revoked")));
    assert_eq!(server.n_submissions(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_is_bound_to_server_round_and_body() {
    let world = World::new();
    world.add_round("autumn", |_| {});
    let server = world.start_with(Arc::new(RealDisk), lenient());
    let body = proxy(1).into_bytes();

    // Replayed in another round.
    let (mut parts, sent) = submission("north", body.clone()).into_parts();
    parts.uri = "/v1/rounds/autumn/submissions/north".parse().unwrap();
    assert_eq!(server.send(Request::from_parts(parts, sent)).await.status, 401);

    // Signed for another server.
    let elsewhere =
        Manifest { audience: "https://elsewhere.example".into(), ..manifest("north", &body) };
    assert_eq!(server.send(request(&elsewhere, &key("north"), body.clone())).await.status, 401);

    // One flipped bit in the body.
    let (parts, _) = submission("north", body.clone()).into_parts();
    let mut changed = body.clone();
    changed[30] ^= 1;
    let answer = server.send(Request::from_parts(parts, Body::from(changed))).await;
    assert_eq!((answer.status, answer.json["code"].as_str()), (400, Some("digest_mismatch")));

    // A different length.
    let (mut parts, _) = submission("north", body.clone()).into_parts();
    parts.headers.insert("content-length", (body.len() - 1).into());
    let short = Body::from(body[..body.len() - 1].to_vec());
    let answer = server.send(Request::from_parts(parts, short)).await;
    assert_eq!((answer.status, answer.json["code"].as_str()), (400, Some("manifest_mismatch")));

    // A different schema.
    let other = Manifest { schema_sha256: Digest::ZERO, ..manifest("north", &body) };
    let answer = server.send(request(&other, &key("north"), body)).await;
    assert_eq!((answer.status, answer.json["code"].as_str()), (422, Some("schema_mismatch")));
    assert_eq!(server.n_submissions(), 0);
    assert!(world.parts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_failures_are_throttled_but_valid_requests_are_not() {
    let world = World::new();
    let server = world.start();
    let body = proxy(1).into_bytes();
    let wrong = || request(&manifest("north", &proxy(1).into_bytes()), &key("south"), Vec::new());
    for _ in 0..20 {
        assert_eq!(server.send(wrong()).await.status, 401);
    }
    assert_eq!(server.send(wrong()).await.status, 429);
    assert_eq!(server.submit("north", body).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_headers_are_refused_before_the_body() {
    let world = World::with(|new| new.limits.body_bytes = 100);
    let server = world.start();
    let send = async |name: &'static str, value: Option<&str>| {
        let (mut parts, body) = submission("north", proxy(1).into_bytes()).into_parts();
        match value {
            Some(value) => parts.headers.insert(name, value.parse().unwrap()),
            None => parts.headers.remove(name),
        };
        server.send(Request::from_parts(parts, body)).await.status
    };
    assert_eq!(send("content-encoding", Some("gzip")).await, 415);
    assert_eq!(send("content-type", Some("application/json")).await, 415);
    assert_eq!(send("content-type", None).await, 415);
    assert_eq!(send("content-length", None).await, 411);
    assert_eq!(send("upload-offset", Some("x")).await, 400);
    assert_eq!(send("upload-offset", Some("18446744073709551615")).await, 400);
    assert_eq!(send("accept", Some("*/*")).await, 413);
}
