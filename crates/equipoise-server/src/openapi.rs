//! The OpenAPI 3.1 description of `/v1`.
//!
//! Paths and methods come from [`Operation`], statuses and codes from [`Refusal`]. The schemas of JSON answers are in
//! `openapi/schemas.json`, and tests validate real answers against them.

mod detail;
mod operation;
mod signing;

use std::collections::BTreeMap;

use equipoise_data::TableKind;
use serde_json::{Map, Value, json};

use self::detail::{Access, Content};
use crate::protocol::{MANIFEST_HEADER, OFFSET_HEADER, Refusal, SIGNATURE_HEADER};

pub use operation::Operation;

const SCHEMAS: &str = include_str!("openapi/schemas.json");

/// The OpenAPI document.
pub fn document() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in Operation::ALL {
        let described = describe(operation);
        paths.entry(operation.path()).or_default().insert(operation.method().into(), described);
    }
    // Expect safety: a valid file of this crate.
    let schemas: Value = serde_json::from_str(SCHEMAS).expect("schemas.json is JSON");
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Equipoise round server",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Collects one submission per client and publishes one model",
            "description": "Every refusal is a JSON document with a stable `code`. Every response has a \
                `request-id`, which also appears in the server's log. Unknown methods get NoSuchMethod, \
                unknown paths NoSuchPage. A malformed request line or header gets status 400, an oversized one \
                414 or 431, without a body.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": [
            { "name": "reader", "description": "Anyone." },
            { "name": "client", "description": "An organisation on the roster, authenticated by signature." },
            { "name": "coordinator", "description": "The organiser of the round, authenticated by token." },
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            // Answers outside any operation.
            "responses": {
                "NoSuchMethod": refused(&[&Refusal::MethodNotAllowed]),
                "NoSuchPage": refused(&[&Refusal::NotFound("page")]),
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
                    "description": "The manifest in base64: the line `equipoise-manifest 1`, then one line `name \
                        value` for each of audience, round, client, media-type, length, sha256 and \
                        schema-sha256, in this order, each ending with a line feed.",
                    "x-example": signing::example(),
                },
                "signature": {
                    "type": "apiKey",
                    "in": "header",
                    "name": SIGNATURE_HEADER,
                    "description": "The client's Ed25519 signature, in base64, over `equipoise signature over \
                        equipoise-manifest 1`, a zero byte and the manifest.",
                },
            },
        },
    })
}

fn describe(operation: Operation) -> Value {
    let (summary, description) = operation.text();
    let access = operation.access();
    let mut described = json!({
        "operationId": operation.id(),
        "summary": summary,
        "description": description,
        "tags": [access.tag()],
        "parameters": parameters(operation),
        "responses": responses(operation),
        "security": match access {
            Access::Anyone => json!([]),
            Access::Client => json!([{ "manifest": [], "signature": [] }]),
            Access::Coordinator => json!([{ "coordinator": [] }]),
        },
    });
    if operation == Operation::Submit {
        described["requestBody"] = json!({
            "required": true,
            "description": "The proxy, or the part of it after `upload-offset`. Content-Length is required.",
            "content": text_of(TableKind::ALL.map(TableKind::media_type)),
        });
    }
    described
}

fn parameters(operation: Operation) -> Vec<Value> {
    let name = json!({ "$ref": "#/components/schemas/Name" });
    let file = json!({
        "type": "string",
        "description": "A name from the round's `files`.",
        "example": "model.json",
    });
    let mut parameters = Vec::new();
    for (name, schema) in [("round", &name), ("client", &name), ("file", &file)] {
        if operation.path().contains(&format!("{{{name}}}")) {
            let parameter =
                json!({ "name": name, "in": "path", "required": true, "schema": schema });
            parameters.push(parameter);
        }
    }
    if operation == Operation::GetLog {
        parameters.push(json!({
            "name": "after",
            "in": "query",
            "required": false,
            "description": "Number of the line before the first one to return.",
            "schema": { "type": "integer", "minimum": 0, "default": 0 },
        }));
    }
    if operation == Operation::Submit {
        parameters.push(json!({
            "name": OFFSET_HEADER,
            "in": "header",
            "required": false,
            "description": "Number of bytes that the server already has. The body is the rest of the file.",
            "schema": { "type": "integer", "minimum": 0, "default": 0 },
        }));
    }
    parameters
}

fn responses(operation: Operation) -> Value {
    let mut responses = Map::new();
    for (status, description, content) in operation.answers() {
        responses.insert(status.to_string(), answer(description, *content));
    }
    let (examples, codes) = (Refusal::examples(), operation.refusals());
    let mut by_status: BTreeMap<u16, Vec<&Refusal>> = BTreeMap::new();
    for refusal in examples.iter().filter(|refusal| codes.contains(&refusal.code())) {
        by_status.entry(refusal.status()).or_default().push(refusal);
    }
    for (status, refusals) in by_status {
        responses.insert(status.to_string(), refused(&refusals));
    }
    Value::Object(responses)
}

fn answer(description: &str, content: Content) -> Value {
    let body = match content {
        Content::Json(schema) => {
            let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
            json!({ "application/json": { "schema": schema } })
        }
        Content::Text(media_types) => text_of(media_types.iter().copied()),
    };
    json!({ "description": description, "headers": request_id(), "content": body })
}

fn text_of(media_types: impl IntoIterator<Item = &'static str>) -> Value {
    let text =
        |media_type: &str| (media_type.to_owned(), json!({ "schema": { "type": "string" } }));
    media_types.into_iter().map(text).collect::<Map<_, _>>().into()
}

fn request_id() -> Value {
    json!({ "request-id": {
        "description": "Also in the server's log.",
        "schema": { "type": "string" },
    } })
}

fn refused(refusals: &[&Refusal]) -> Value {
    let codes: Vec<&str> = refusals.iter().map(|refusal| refusal.code()).collect();
    let quoted: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let examples: Map<String, Value> = refusals
        .iter()
        .map(|refusal| (refusal.code().to_owned(), json!({ "value": refusal.body() })))
        .collect();
    let mut headers = request_id();
    if refusals.iter().any(|refusal| refusal.retry_after_seconds().is_some()) {
        headers["retry-after"] = json!({
            "description": "Seconds to wait before a retry.",
            "schema": { "type": "integer", "minimum": 0 },
        });
    }
    if refusals.iter().any(|refusal| refusal.status() == 401) {
        headers["www-authenticate"] = json!({ "schema": { "type": "string" } });
    }
    json!({
        "description": quoted.join(" or "),
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
