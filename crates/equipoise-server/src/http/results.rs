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
use crate::protocol::{Refusal, RoundId, RoundInfo};
use crate::round::Rounds;
use crate::store::StoreError;

/// `GET /v1/openapi.json`
pub(super) async fn get_description() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", openapi::document()));
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

/// `GET /v1/rounds`
pub(super) async fn get_rounds(State(app): State<Arc<App>>) -> Answer<Json<Value>> {
    let rounds = app.ask(Rounds::names).await?;
    Ok(Json(json!({ "rounds": rounds })))
}

/// `GET /v1/rounds/{round}`
pub(super) async fn get_round(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
) -> Answer<Json<RoundInfo>> {
    let round = round_name(&round)?;
    Ok(Json(app.ask(move |rounds| rounds.info(&round)).await?))
}

/// `GET /v1/rounds/{round}/schema`
pub(super) async fn get_schema(
    State(app): State<Arc<App>>,
    Segments(round): Segments<String>,
) -> Answer {
    let round = round_name(&round)?;
    let schema = app.ask(move |rounds| rounds.schema_toml(&round)).await?;
    Ok(([(header::CONTENT_TYPE, "application/toml")], schema).into_response())
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
            let log = app.shared_reply(reply, move |rounds| rounds.log_file(&round, &name));
            Body::from(log.await?)
        }
        "audit-head.json" => {
            Body::from(app.ask(move |rounds| rounds.log_file(&round, &name)).await?)
        }
        _ => {
            let open = app.ask(move |rounds| {
                let path = rounds.published_file(&round, &name)?;
                FileBody::open(path.clone()).map_err(StoreError::file(&path))
            });
            Body::new(open.await?)
        }
    };
    Ok(file_response(&file, body))
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
pub(super) fn round_name(text: &str) -> Result<RoundId, Refusal> {
    text.parse().map_err(|_| Refusal::NotFound("round"))
}
