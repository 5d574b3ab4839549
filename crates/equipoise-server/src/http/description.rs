//! `GET /v1/openapi.json`

use std::sync::OnceLock;

use axum::http::header;
use axum::response::IntoResponse;

use crate::openapi;

pub(super) async fn get_description() -> impl IntoResponse {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| format!("{:#}\n", openapi::document()));
    ([(header::CONTENT_TYPE, "application/json")], text.as_str())
}
