//! One line of log per request, with an id that the client is told, too. Neither headers nor bodies.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument as _, info, info_span};

use super::app::App;

pub(super) async fn log_request(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let mut bytes = [0; 8];
    // An id of zeros, should the system have no random numbers, is no harm.
    let _ = getrandom::fill(&mut bytes);
    let id = equipoise_data::hex(&bytes);
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = info_span!("request", id = %id);
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    app.metrics.response(status);
    let milliseconds = started.elapsed().as_millis() as u64;
    span.in_scope(|| info!(%method, path, status, milliseconds, "answered"));
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("request-id", value);
    }
    response
}
