//! Limits how many public reads run at once, so that a flood of them leaves threads and the database to clients.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;

use super::app::App;

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
    let turn = match is_read && !RESTRICTED.iter().any(|part| path.contains(part)) {
        // The semaphore is never closed.
        true => app.reads.acquire().await.ok(),
        false => None,
    };
    let response = next.run(request).await;
    drop(turn);
    response
}
