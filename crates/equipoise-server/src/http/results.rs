//! Public operations: rounds, schemas and published files.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::app::App;
use super::file_body::FileBody;
use super::reply::Answer;
use super::segments::{Segments, TwoSegments};
use super::shared_replies::SharedReply;
use crate::openapi;
use crate::protocol::{LogHead, Name, Refusal, RoundInfo, RoundState};
use crate::store::StoreError;

/// `GET /v1/openapi.json`
pub(super) async fn get_description() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", openapi::document()));
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

/// `GET /v1/rounds`
pub(super) async fn get_rounds(State(app): State<Arc<App>>) -> Answer<Json<Value>> {
    let rounds = app.blocking(|app| app.store.rounds()).await?;
    Ok(Json(json!({ "rounds": rounds })))
}

/// `GET /v1/rounds/{round}`
pub(super) async fn get_round(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
) -> Answer<Json<RoundInfo>> {
    let round = round_name(&round)?;
    Ok(Json(app.blocking(move |app| app.info(&round)).await?))
}

/// `GET /v1/rounds/{round}/schema`
pub(super) async fn get_schema(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
) -> Answer {
    let round = round_name(&round)?;
    let spec = app.blocking(move |app| app.store.spec(&round)).await?;
    Ok(([(header::CONTENT_TYPE, "application/toml")], spec.schema_toml.clone()).into_response())
}

/// `GET /v1/rounds/{round}/files/{file}`
pub(super) async fn get_file(
    State(app): State<Arc<App>>,
    Segments((round, file)): Segments<TwoSegments>,
) -> Answer {
    let round = round_name(&round)?;
    let name = file.clone();
    let body = match name.as_str() {
        "audit.jsonl" => {
            let reply = SharedReply::AuditLog(round.clone());
            let log = app.shared_reply(reply, move |app| log_file(app, &round, &name));
            Body::from(log.await?)
        }
        "audit-head.json" => {
            Body::from(app.blocking(move |app| log_file(app, &round, &name)).await?)
        }
        _ => Body::new(app.blocking(move |app| published_file(app, &round, &name)).await?),
    };
    Ok(file_response(&file, body))
}

/// The content of one of `LOG_FILES`, which are not stored as files.
pub(super) fn log_file(app: &App, round: &Name, name: &str) -> Result<Vec<u8>, StoreError> {
    require_published(app, round)?;
    if name == "audit.jsonl" {
        return Ok((app.store.audit_lines(round)?.join("\n") + "\n").into_bytes());
    }
    let (seq, chain_head) = app.store.chain_head(round)?;
    let head = LogHead { round: round.clone(), seq, chain_head }.sign(app.store.key());
    Ok(serde_json::to_vec_pretty(&head)?)
}

fn published_file(app: &App, round: &Name, name: &str) -> Result<FileBody, StoreError> {
    require_published(app, round)?;
    // Only names from the database are ever joined to a path.
    if !app.store.artefacts(round)?.iter().any(|(known, _)| known == name) {
        return Err(Refusal::NotFound("file").into());
    }
    let path = app.store.folder().published(round).join(name);
    FileBody::open(path.clone()).map_err(StoreError::file(&path))
}

fn require_published(app: &App, round: &Name) -> Result<(), StoreError> {
    match app.store.state(round)? {
        RoundState::Published => Ok(()),
        state => Err(Refusal::NotPublished(state).into()),
    }
}

fn file_response(name: &str, body: Body) -> Response {
    let media_type = match name.rsplit('.').next() {
        Some("json") => "application/json",
        Some("jsonl") => "application/jsonl",
        Some("html") => "text/html; charset=utf-8",
        Some("csv") => "text/csv; charset=utf-8",
        _ => "application/toml",
    };
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The report has inline styles and no scripts.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        ),
    ];
    (headers, body).into_response()
}

/// Parses the name of a round. An invalid name is answered like an unknown round.
pub(super) fn round_name(text: &str) -> Result<Name, Refusal> {
    text.parse().map_err(|_| Refusal::NotFound("round"))
}
