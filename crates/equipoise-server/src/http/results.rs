//! Public operations: rounds, schemas and published files.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::app::App;
use super::reply::Answer;
use super::segments::{Segments, TwoSegments};
use crate::openapi;
use crate::protocol::{Name, Refusal, RoundInfo, RoundState};
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
    let content = app.blocking(move |app| published_file(app, &round, &name));
    Ok(file_response(&file, content.await?))
}

pub(super) fn published_file(app: &App, round: &Name, name: &str) -> Result<Vec<u8>, StoreError> {
    let state = app.store.state(round)?;
    if state != RoundState::Published {
        return Err(Refusal::NotPublished(state).into());
    }
    if name == "audit.jsonl" {
        return Ok((app.store.audit_lines(round)?.join("\n") + "\n").into_bytes());
    }
    if name == "audit-head.json" {
        return Ok(serde_json::to_vec_pretty(&app.store.signed_log_head(round)?)?);
    }
    // Only names from the database are ever joined to a path.
    if !app.store.artefacts(round)?.iter().any(|(known, _)| known == name) {
        return Err(Refusal::NotFound("file").into());
    }
    let path = app.store.folder().published(round).join(name);
    std::fs::read(&path).map_err(StoreError::file(&path))
}

fn file_response(name: &str, content: Vec<u8>) -> Response {
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
    (headers, Body::from(content)).into_response()
}

/// Parses the name of a round. An invalid name is answered like an unknown round.
pub(super) fn round_name(text: &str) -> Result<Name, Refusal> {
    text.parse().map_err(|_| Refusal::NotFound("round"))
}
