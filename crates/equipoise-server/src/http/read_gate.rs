//! Limits how many public reads run at once, so that a flood of them leaves threads and the database to clients.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::{Instrument as _, error};

use super::app::App;
use super::reply::Refused;
use crate::protocol::Refusal;

/// Parts of paths that need credentials. Checking those is cheap.
const RESTRICTED: [&str; 3] = ["/submissions/", "/clients", "/coordinator"];

/// Waits for a turn. Only public reads do: they never wait for their peer, so a slow peer holds no turn.
pub(super) async fn take_turns(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read || RESTRICTED.iter().any(|part| path.contains(part)) {
        return next.run(request).await;
    }
    // The semaphore is never closed.
    let turn = Arc::clone(&app.reads).acquire_owned().await.ok();
    // A task of its own, because a peer that hangs up does not stop the blocking work: that must keep its turn.
    let running = async move {
        let response = next.run(request).await;
        drop(turn);
        response
    };
    let response = tokio::spawn(running.in_current_span()).await;
    response.unwrap_or_else(|error| {
        error!(%error, "request failed");
        Refused(Refusal::Internal).into_response()
    })
}
