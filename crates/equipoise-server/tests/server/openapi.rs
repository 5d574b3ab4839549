//! The OpenAPI description matches the server's operations, codes and documents.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use equipoise_server::openapi::Operation;
use equipoise_server::protocol::{
    Digest, MANIFEST_HEADER, Manifest, OFFSET_HEADER, Refusal, RoundState, SIGNATURE_HEADER,
};
use serde_json::Value;

use crate::json_schema::problems;
use crate::world::{Answer, Server, World, key, manifest, proxy, request, submission};

/// The served document.
async fn described(server: &Server) -> Value {
    let answer = server.get("/v1/openapi.json").await;
    assert_eq!(answer.status, 200);
    answer.json
}

/// Asserts that the description of the operation covers an answer.
fn assert_described(document: &Value, operation: Operation, answer: &Answer) {
    let context = format!("{operation:?}, {}", answer.status);
    let responses = &document["paths"][operation.path()][operation.method()]["responses"];
    let response = responses.get(answer.status.to_string()).unwrap_or_else(|| panic!("{context}"));
    if let Some(json) = response["content"].get("application/json")
        && json["schema"].get("type") != Some(&"string".into())
    {
        let found = problems(document, &json["schema"], &answer.json);
        assert!(found.is_empty(), "{context}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn router_and_description_list_the_same_operations() {
    let world = World::new();
    let server = world.start();
    let document = described(&server).await;
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((path.clone(), method.clone()));
            for field in ["operationId", "summary", "description", "responses", "security"] {
                assert!(operation.get(field).is_some(), "{method} {path}: {field}");
            }
        }
    }
    let own = Operation::ALL.map(|o| (o.path().to_owned(), o.method().to_owned()));
    assert_eq!(described, BTreeSet::from(own));

    // Requests confirm it: exactly the methods that are not described are answered with 405.
    for path in document["paths"].as_object().unwrap().keys() {
        let address =
            path.replace("{round}", "other").replace("{client}", "x").replace("{file}", "x");
        for method in ["get", "put", "post", "delete", "patch", "options", "trace"] {
            let method_name = method.to_uppercase();
            let request = Request::builder().method(method_name.as_str()).uri(&address);
            let response = server.stream(request.body(Body::empty()).unwrap()).await;
            let is_described = described.contains(&(path.clone(), method.to_owned()));
            assert_eq!(response.status() != 405, is_described, "{method} {path}");
            assert_eq!(response.headers().contains_key("allow"), !is_described, "{method} {path}");
        }
    }
    assert_eq!(server.get("/v1/nothing").await.status, 404);
}

#[test]
fn every_code_is_described_and_every_reference_resolves() {
    let document = equipoise_server::openapi::document();
    let text = document.to_string();
    for refusal in Refusal::examples() {
        assert!(text.contains(&format!("\"{}\"", refusal.code())), "{}", refusal.code());
        let schema = &document["components"]["schemas"]["Refusal"];
        let body = serde_json::to_value(refusal.body()).unwrap();
        assert_eq!(problems(&document, schema, &body), Vec::<String>::new());
    }
    for header in [MANIFEST_HEADER, SIGNATURE_HEADER, OFFSET_HEADER] {
        assert!(text.contains(&format!("\"{header}\"")), "{header}");
    }
    for part in text.split("\"$ref\":\"#").skip(1) {
        let pointer = part.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

/// An independent implementation of the description gives the same signature.
#[test]
fn the_example_of_a_signed_request_is_valid() {
    use base64::Engine as _;
    use ed25519_dalek::Signer as _;
    let document = equipoise_server::openapi::document();
    let example = &document["components"]["securitySchemes"]["manifest"]["x-example"];
    let text = |name: &str| example[name].as_str().unwrap();
    let file = text("file").as_bytes();
    let lines = [
        "equipoise-manifest 1".to_owned(),
        "audience https://round.example.org:8443".to_owned(),
        "round spring".to_owned(),
        "client north".to_owned(),
        "media-type text/csv".to_owned(),
        format!("length {}", file.len()),
        format!("sha256 {}", Digest::of(file)),
        format!("schema-sha256 {}", Digest::of(b"the schema")),
    ];
    let own = lines.map(|line| line + "\n").concat();
    assert_eq!(text("manifest"), own);
    assert_eq!(Manifest::from_header(text(MANIFEST_HEADER)).unwrap().to_bytes(), own.as_bytes());
    let key = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
    let signed =
        key.sign(format!("equipoise signature over equipoise-manifest 1\0{own}").as_bytes());
    let encoded = base64::engine::general_purpose::STANDARD.encode(signed.to_bytes());
    assert_eq!(text(SIGNATURE_HEADER), encoded);
}

#[tokio::test(flavor = "multi_thread")]
async fn real_answers_match_the_description() {
    let world = World::new();
    let server = world.start();
    let document = described(&server).await;
    let check = |operation, answer: &Answer, status: u16| {
        assert_eq!(answer.status, status, "{operation:?}: {}", answer.json);
        assert_described(&document, operation, answer);
    };
    let get = async |operation: Operation, file: &str, status: u16| {
        let path = operation.path().replace("{round}", "spring").replace("{file}", file);
        check(operation, &server.get(&path).await, status);
    };
    let signed = |client: &str, rest: &str| {
        let body = proxy(1).into_bytes();
        let (mut parts, _) = submission(client, body).into_parts();
        parts.method = "GET".parse().unwrap();
        parts.uri = format!("/v1/rounds/spring/submissions/{client}{rest}").parse().unwrap();
        Request::from_parts(parts, Body::empty())
    };
    let clients = || {
        let bearer = format!("Bearer {}", world.token);
        Request::get("/v1/rounds/spring/clients").header("authorization", bearer)
    };
    get(Operation::Describe, "", 200).await;
    get(Operation::ListRounds, "", 200).await;
    get(Operation::GetRound, "", 200).await;
    get(Operation::GetSchema, "", 200).await;
    get(Operation::GetFile, "model.json", 404).await;
    get(Operation::ListClients, "", 401).await;
    check(Operation::GetReceipt, &server.send(signed("north", "")).await, 404);
    check(Operation::GetUpload, &server.send(signed("north", "/upload")).await, 200);
    check(Operation::Close, &server.post("close", &world.token).await, 409);
    check(Operation::Open, &server.post("open", &world.token).await, 409);
    check(Operation::Revoke, &server.post("clients/nobody/revoke", &world.token).await, 404);
    check(Operation::Submit, &server.submit("north", "score,group,passed\nnan,0,1\n").await, 422);
    check(Operation::Submit, &server.submit("north", proxy(1)).await, 201);
    check(Operation::Submit, &server.submit("north", proxy(1)).await, 200);
    check(Operation::Submit, &server.submit("north", proxy(2)).await, 409);
    check(Operation::GetReceipt, &server.send(signed("north", "")).await, 200);
    let answer = server.send(clients().body(Body::empty()).unwrap()).await;
    check(Operation::ListClients, &answer, 200);
    let large = Manifest { length: 1 << 40, ..manifest("south", b"") };
    let mut too_large = request(&large, &key("south"), Vec::new());
    too_large.headers_mut().insert("content-length", (1u64 << 40).into());
    check(Operation::Submit, &server.send(too_large).await, 413);
    check(Operation::Revoke, &server.post("clients/east/revoke", &world.token).await, 200);
    check(Operation::Submit, &server.submit("east", proxy(3)).await, 403);
    check(Operation::Submit, &server.submit("south", proxy(2)).await, 201);
    assert_eq!(server.wait(), RoundState::Published);
    get(Operation::GetRound, "", 200).await;
    for file in ["model.json", "audit.jsonl", "audit-head.json", "report.html", "schema.toml"] {
        get(Operation::GetFile, file, 200).await;
    }
    check(Operation::Abort, &server.post("abort", &world.token).await, 409);
}
