//! What `/v1` does, as an OpenAPI 3.1 document: the list of operations, with the words, replies and refusals
//! of each.
//!
//! Addresses and methods come from [`Operation`], statuses and codes from [`Refusal`]: neither can be told
//! differently here. The shapes of JSON replies are in `openapi/schemas.json`; a test holds real replies
//! against them.

mod detail;
mod signing;

use std::collections::BTreeMap;

use equipoise_data::TableKind;
use serde_json::{Map, Value, json};

use self::detail::{Access, Content, Detail, detail};
use crate::http::Operation;
use crate::protocol::{MANIFEST_HEADER, OFFSET_HEADER, Refusal, SIGNATURE_HEADER};

const SCHEMAS: &str = include_str!("openapi/schemas.json");

/// What every operation may answer, whatever it does.
const ALWAYS: [&str; 2] = ["bad_request", "internal"];

/// The description.
pub fn document() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in Operation::ALL {
        let described = describe(operation);
        paths.entry(operation.path()).or_default().insert(operation.method().into(), described);
    }
    // Expect safety: a file of this crate, which a test reads.
    let schemas: Value = serde_json::from_str(SCHEMAS).expect("schemas.json is JSON");
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Equipoise round server",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "One submission each, then one model for all",
            "description": "Every refusal is a JSON document with a stable `code`. Every answer has a \
                `request-id` that the server's log has, too. Another method is answered as NoSuchMethod, \
                another address as NoSuchPage. A head that is no HTTP is answered 400, one \
                that is too large 414 or 431, both without a document, before any operation is found.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": [
            { "name": "reader", "description": "Anyone." },
            { "name": "client", "description": "An organisation of the roster, by its signature." },
            { "name": "coordinator", "description": "Who set the round up, by a token." },
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            // Of no operation: another method, another address.
            "responses": {
                "NoSuchMethod": refused(&[&Refusal::MethodNotAllowed]),
                "NoSuchPage": refused(&[&Refusal::NotFound { what: "such page" }]),
            },
            "securitySchemes": {
                "coordinator": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token that `equipoise round new` wrote.",
                },
                "manifest": {
                    "type": "apiKey",
                    "in": "header",
                    "name": MANIFEST_HEADER,
                    "description": "The manifest in base64: a line `equipoise-manifest 1`, then a line `name \
                        value` for each of audience, round, client, media-type, length, sha256 and \
                        schema-sha256, in this order, each with its line break.",
                    "x-example": signing::example(),
                },
                "signature": {
                    "type": "apiKey",
                    "in": "header",
                    "name": SIGNATURE_HEADER,
                    "description": "The client's Ed25519 signature, in base64, over `equipoise signature over \
                        equipoise-manifest 1`, a byte 0 and the manifest.",
                },
            },
        },
    })
}

fn describe(operation: Operation) -> Value {
    let detail = detail(operation);
    let mut described = json!({
        "operationId": detail.id,
        "summary": detail.summary,
        "description": detail.description,
        "tags": [detail.access.tag()],
        "parameters": parameters(operation),
        "responses": responses(&detail),
    });
    match detail.access {
        Access::Anyone => described["security"] = json!([]),
        Access::Client => described["security"] = json!([{ "manifest": [], "signature": [] }]),
        Access::Coordinator => described["security"] = json!([{ "coordinator": [] }]),
    }
    if operation == Operation::Submit {
        let content: Map<String, Value> = TableKind::ALL
            .into_iter()
            .map(|kind| (kind.media_type().to_owned(), json!({ "schema": { "type": "string" } })))
            .collect();
        described["requestBody"] = json!({
            "required": true,
            "description": "The proxy, all of it or the part behind `upload-offset`; the length is said beforehand.",
            "content": content,
        });
    }
    described
}

fn parameters(operation: Operation) -> Vec<Value> {
    let mut parameters = Vec::new();
    for name in ["round", "client"] {
        if operation.path().contains(&format!("{{{name}}}")) {
            parameters.push(json!({
                "name": name,
                "in": "path",
                "required": true,
                "schema": { "$ref": "#/components/schemas/Name" },
            }));
        }
    }
    if operation.path().contains("{file}") {
        parameters.push(json!({
            "name": "file",
            "in": "path",
            "required": true,
            "description": "A name from the round's `files`.",
            "schema": { "type": "string" },
            "example": "model.json",
        }));
    }
    if operation == Operation::Submit {
        parameters.push(json!({
            "name": OFFSET_HEADER,
            "in": "header",
            "required": false,
            "description": "Bytes that the server already has; the body is what follows them.",
            "schema": { "type": "integer", "minimum": 0, "default": 0 },
        }));
    }
    parameters
}

fn responses(detail: &Detail) -> Value {
    let mut responses = Map::new();
    for (status, words, content) in detail.answers {
        responses.insert(status.to_string(), answer(words, *content));
    }
    let examples = Refusal::examples();
    let named = |code: &&str| detail.refusals.contains(code) || ALWAYS.contains(code);
    let mut by_status: BTreeMap<u16, Vec<&Refusal>> = BTreeMap::new();
    for refusal in examples.iter().filter(|refusal| named(&refusal.code())) {
        by_status.entry(refusal.status()).or_default().push(refusal);
    }
    for (status, refusals) in by_status {
        responses.insert(status.to_string(), refused(&refusals));
    }
    Value::Object(responses)
}

fn answer(words: &str, content: Content) -> Value {
    let body = match content {
        Content::Json(schema) => {
            let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
            json!({ "application/json": { "schema": schema } })
        }
        Content::Text(kinds) => kinds
            .iter()
            .map(|kind| ((*kind).to_owned(), json!({ "schema": { "type": "string" } })))
            .collect::<Map<_, _>>()
            .into(),
    };
    json!({ "description": words, "headers": request_id(), "content": body })
}

fn request_id() -> Value {
    json!({ "request-id": {
        "description": "Stands in the server's log, too.",
        "schema": { "type": "string" },
    } })
}

fn refused(refusals: &[&Refusal]) -> Value {
    let codes: Vec<&str> = refusals.iter().map(|refusal| refusal.code()).collect();
    let words: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let examples: Map<String, Value> = refusals
        .iter()
        .map(|refusal| (refusal.code().to_owned(), json!({ "value": refusal.body() })))
        .collect();
    let mut headers = request_id();
    if refusals.iter().any(|refusal| refusal.retry_after_seconds().is_some()) {
        headers["retry-after"] = json!({
            "description": "Seconds after which it is worth trying again.",
            "schema": { "type": "integer", "minimum": 0 },
        });
    }
    if refusals.iter().any(|refusal| refusal.status() == 401) {
        headers["www-authenticate"] = json!({ "schema": { "type": "string" } });
    }
    json!({
        "description": words.join(" or "),
        "headers": headers,
        "content": { "application/json": {
            "schema": { "allOf": [
                { "$ref": "#/components/schemas/Refusal" },
                { "properties": { "code": { "enum": codes } } },
            ] },
            "examples": examples,
        } },
    })
}
