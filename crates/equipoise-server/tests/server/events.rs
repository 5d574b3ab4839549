//! Event streams, unknown paths and monitoring.

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt as _;

use crate::world::{World, proxy};

#[tokio::test(flavor = "multi_thread")]
async fn listeners_get_the_state_immediately_and_after_every_submission() {
    let world = World::new();
    let server = world.start();
    let request = Request::get("/v1/rounds/spring/events").body(Body::empty()).unwrap();
    let response = server.stream(request).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut next = async || {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        String::from_utf8(frame.to_vec()).unwrap()
    };
    let first = next().await;
    assert!(first.contains("event: round") && first.contains("\"n_submissions\":0"), "{first}");
    assert_eq!(server.submit("north", proxy(1)).await.status, 201);
    let second = next().await;
    assert!(second.contains("\"n_submissions\":1"), "{second}");
    assert!(!second.contains("north"), "names are only for the coordinator: {second}");
    assert_eq!(server.get("/v1/rounds/none/events").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_and_methods_are_answered_in_json() {
    let server = World::new().start();
    let post = Request::post("/v1/rounds").body(Body::empty()).unwrap();
    for (answer, status) in [(server.get("/nothing").await, 404), (server.send(post).await, 405)] {
        assert_eq!(answer.status, status);
        assert!(answer.json["code"].is_string(), "{}", answer.json);
    }
    for path in ["spring/files/..%2F..%2Fserver.key", "..%2Fx", "spring/files/server.key"] {
        assert_eq!(server.get(&format!("/v1/rounds/{path}")).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn monitoring_shows_health_and_counts_but_no_names() {
    let world = World::new();
    let server = world.start();
    server.submit("north", proxy(1)).await;
    server.submit("north", proxy(2)).await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.get_admin(path).await.0, 200, "{path}");
    }
    let (status, text) = server.get_admin("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "equipoise_submissions_accepted_total 1",
        "equipoise_responses_total{status=\"409\"} 1",
        "equipoise_uploads_in_progress 0",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line} in {text}");
    }
    assert!(!text.contains("north"), "{text}");
}
