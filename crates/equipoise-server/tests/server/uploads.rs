//! Uploads: repeated, conflicting, interrupted, resumed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::Request;
use equipoise_server::Limits;
use equipoise_server::protocol::{MANIFEST_HEADER, OFFSET_HEADER, RoundState, SIGNATURE_HEADER};
use equipoise_server::store::RealDisk;
use http_body_util::StreamBody;
use hyper::body::Frame;
use tokio_stream::StreamExt as _;

use crate::world::{World, key, manifest, proxy, scaled, submission};

#[tokio::test(flavor = "multi_thread")]
async fn resubmitting_the_same_file_is_idempotent_and_another_file_is_refused() {
    let world = World::new();
    let server = world.start();
    let first = server.submit("north", proxy(1)).await;
    assert_eq!(first.status, 201, "{}", first.json);
    assert_eq!(first.json["receipt"]["rows"], 40);
    let again = server.submit("north", proxy(1)).await;
    assert_eq!((again.status, &again.json), (200, &first.json));
    let other = server.submit("north", proxy(2)).await;
    assert_eq!((other.status, other.json["code"].as_str()), (409, Some("already_submitted")));
    assert_eq!(server.n_submissions(), 1);
    assert!(world.parts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_identical_submissions_make_one_row() {
    let world = World::new();
    let server = world.start();
    let n = scaled(20, 50);
    let mut tasks = Vec::new();
    let server = std::sync::Arc::new(server);
    for _ in 0..n {
        let server = std::sync::Arc::clone(&server);
        tasks.push(tokio::spawn(async move { server.submit("north", proxy(1)).await.status }));
    }
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.push(task.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), n - 1, "{statuses:?}");
    assert_eq!(server.n_submissions(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_two_concurrent_submissions_is_accepted() {
    for _ in 0..scaled(10, 200) {
        let world = World::new();
        let server = world.start();
        let (a, b) =
            tokio::join!(server.submit("north", proxy(1)), server.submit("north", proxy(2)));
        let mut statuses = [a.status, b.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409]);
        assert_eq!(server.n_submissions(), 1);
    }
}

/// A request whose body breaks off after `keep` bytes.
fn interrupted(client: &str, whole: &str, keep: usize) -> Request<Body> {
    let (mut parts, _) = submission(client, whole.as_bytes().to_vec()).into_parts();
    parts.headers.insert("content-length", whole.len().into());
    let frames = vec![
        Ok(Frame::data(Bytes::copy_from_slice(&whole.as_bytes()[..keep]))),
        Err(std::io::Error::other("the cable was cut")),
    ];
    Request::from_parts(parts, Body::new(StreamBody::new(tokio_stream::iter(frames))))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_body_leaves_no_row_and_a_retry_succeeds() {
    let whole = proxy(1);
    for keep in [0, 1, whole.len() / 2, whole.len() - 1] {
        let world = World::new();
        let server = world.start();
        let broken = server.send(interrupted("north", &whole, keep)).await;
        assert_eq!((broken.status, broken.json["code"].as_str()), (400, Some("body_truncated")));
        assert_eq!(server.n_submissions(), 0);
        assert_eq!(server.submit("north", whole.clone()).await.status, 201);
        assert!(world.parts().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_resumes() {
    let world = World::new();
    let server = world.start();
    let whole = proxy(1);
    server.send(interrupted("north", &whole, 100)).await;
    let manifest = manifest("north", whole.as_bytes());
    let signature = manifest.sign(&key("north")).to_string();
    let state = Request::get("/v1/rounds/spring/submissions/north/upload")
        .header(MANIFEST_HEADER, manifest.to_header())
        .header(SIGNATURE_HEADER, &signature);
    let state = server.send(state.body(Body::empty()).unwrap()).await;
    assert_eq!(state.json["offset"], 100);

    let rest = |offset: usize| {
        let (mut parts, _) = submission("north", whole.as_bytes().to_vec()).into_parts();
        parts.headers.insert("content-length", (whole.len() - offset).into());
        parts.headers.insert(OFFSET_HEADER, offset.into());
        Request::from_parts(parts, Body::from(whole.as_bytes()[offset..].to_vec()))
    };
    let elsewhere = server.send(rest(99)).await;
    assert_eq!((elsewhere.status, &elsewhere.json["offset"]), (409, &100.into()));
    assert_eq!(server.send(rest(100)).await.status, 201);
    assert!(world.parts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn partial_uploads_are_removed_at_a_restart_and_at_the_close() {
    let world = World::new();
    let server = world.start();
    server.send(interrupted("north", &proxy(1), 100)).await;
    assert_eq!(world.parts().len(), 1);
    drop(server);
    let server = world.start();
    assert!(world.parts().is_empty());
    server.send(interrupted("north", &proxy(1), 100)).await;
    assert_eq!(server.submit("east", proxy(2)).await.status, 201);
    assert_eq!(server.submit("south", proxy(3)).await.status, 201);
    assert_eq!(server.post("close", &world.token).await.status, 200);
    assert!(world.parts().is_empty());
    let late = server.submit("north", proxy(1)).await;
    assert_eq!((late.status, late.json["code"].as_str()), (409, Some("round_not_open")));
    assert_eq!(server.wait(), RoundState::Published);
}

/// A request whose body starts and then stalls.
fn stalled(client: &str, whole: &str) -> Request<Body> {
    let (mut parts, _) = submission(client, whole.as_bytes().to_vec()).into_parts();
    parts.headers.insert("content-length", whole.len().into());
    let first = Frame::data(Bytes::copy_from_slice(&whole.as_bytes()[..10]));
    let frames = tokio_stream::once(Ok::<_, Infallible>(first)).chain(tokio_stream::pending());
    Request::from_parts(parts, Body::new(StreamBody::new(frames)))
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_beyond_the_limit_get_a_retry_after() {
    let world = World::new();
    let limits = Limits { uploads_at_once: 1, ..Limits::default() };
    let server = Arc::new(world.start_with(Arc::new(RealDisk), limits));
    let slow = tokio::spawn({
        let server = Arc::clone(&server);
        async move { server.send(stalled("north", &proxy(1))).await }
    });
    while world.parts().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let answer = server.stream(submission("east", proxy(2).into_bytes())).await;
    assert_eq!(answer.status().as_u16(), 503);
    assert_eq!(answer.headers()["retry-after"], "5");
    let slow = slow.await.unwrap();
    assert_eq!((slow.status, slow.json["code"].as_str()), (408, Some("too_slow")));
    assert_eq!(server.submit("east", proxy(2)).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_expires() {
    let world = World::new();
    let server = world.start();
    server.send(interrupted("north", &proxy(1), 100)).await;
    let part = world.parts().pop().unwrap();
    let age = |seconds: u64| {
        let file = std::fs::File::options().write(true).open(&part).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        server.rounds.remove_expired_uploads().unwrap();
    };
    let day = Limits::default().upload_expiry_seconds;
    age(day - 600);
    assert_eq!(world.parts().len(), 1);
    age(day + 600);
    assert!(world.parts().is_empty());
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
}
