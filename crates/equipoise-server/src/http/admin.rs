//! Health checks and metrics, on a separate port.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use super::app::App;
use super::reply::Answer;
use crate::round::Rounds;

/// `GET /healthz`: the process responds.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the database responds, and the server is not stopping.
pub(super) async fn readyz(State(app): State<Arc<App>>) -> Answer<(StatusCode, &'static str)> {
    if app.stopping.load(Ordering::SeqCst) {
        return Ok((StatusCode::SERVICE_UNAVAILABLE, "stopping\n"));
    }
    app.ask(Rounds::names).await?;
    Ok((StatusCode::OK, "ready\n"))
}

/// `GET /metrics`
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let busy = app.rounds.n_uploads();
    let text = app.metrics.text(
        app.rounds.counters(),
        &[
            ("uploads_in_progress", "Uploads in progress.", busy as u64),
            ("event_listeners", "Event stream listeners.", app.listeners.len() as u64),
        ],
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
