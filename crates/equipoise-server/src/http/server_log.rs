//! Public operations on the server-wide log.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::IntoResponse;

use super::app::App;
use super::reply::Answer;
use super::shared_replies::SharedReply;
use crate::protocol::Refusal;

/// `GET /v1/head`
pub(super) async fn get_head(State(app): State<Arc<App>>) -> Answer {
    let head = app.shared_reply(SharedReply::ServerHead, |rounds| {
        Ok(serde_json::to_vec(&rounds.server_head()?)?)
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], head.await?).into_response())
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
