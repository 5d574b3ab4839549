//! Logs one line per request, with an id that is also in the response. Headers and bodies are never logged.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use tracing::{Instrument as _, info, info_span};

use super::app::App;

/// Valid paths are shorter: a round and a client or file, at most 64 bytes each, and fixed parts.
const MAX_PATH_BYTES: usize = 256;

pub(super) async fn log_request(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    let mut bytes = [0; 8];
    // Without random numbers, an id of zeros does no harm.
    let _ = getrandom::fill(&mut bytes);
    let id = equipoise_data::hex(&bytes);
    let started = Instant::now();
    let (method, path) = (request.method().clone(), logged_path(request.uri().path()));
    let span = info_span!("request", id = %id);
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    app.metrics.response(status);
    let milliseconds = started.elapsed().as_millis() as u64;
    span.in_scope(|| info!(%method, path, status, milliseconds, "request"));
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("request-id", value);
    }
    response
}

/// The path, cut if it is long, so that strangers cannot fill the disk with log lines.
fn logged_path(path: &str) -> String {
    match path.char_indices().find(|(i, _)| *i >= MAX_PATH_BYTES) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_long_paths() {
        assert_eq!(logged_path("/v1/rounds"), "/v1/rounds");
        let long = logged_path(&"/é".repeat(5000));
        assert!(long.len() < MAX_PATH_BYTES + 8 && long.ends_with('…'), "{}", long.len());
    }
}
