//! Public operations on the server-wide log.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::IntoResponse;

use super::app::App;
use super::reply::Answer;
use crate::protocol::{Refusal, SignedServerHead};
use crate::round::Rounds;

/// `GET /v1/head`
pub(super) async fn get_head(State(app): State<Arc<App>>) -> Answer<Json<SignedServerHead>> {
    Ok(Json(app.ask(Rounds::server_head).await?))
}

/// `GET /v1/log`
pub(super) async fn get_log(State(app): State<Arc<App>>, uri: Uri) -> Answer {
    let after = first_entry(uri.query())?;
    let entries = app.ask(move |rounds| rounds.server_log(after)).await?;
    let lines: String = entries.iter().map(|entry| entry.to_line() + "\n").collect();
    Ok(([(header::CONTENT_TYPE, "application/jsonl")], lines).into_response())
}

/// The value of `after`, which is the only parameter.
fn first_entry(query: Option<&str>) -> Result<u64, Refusal> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(0) };
    query
        .strip_prefix("after=")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| Refusal::BadRequest("the query is not `after=` and a number".into()))
}
