//! How a page leaves: its headers, and refusals for those who read pages.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::reply::Refused;
use crate::pages;
use crate::protocol::Refusal;
use crate::store::StoreError;

/// What a handler of a page gives.
pub(super) type PageAnswer = Result<Response, RefusedPage>;

/// Everything comes from this server, and nobody frames it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who may keep a copy.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// Anyone, who must ask again before showing it.
    AskAgain,
    /// Nobody: it has names.
    Never,
}

/// A page on its way out.
pub(super) fn page(html: String, keep: Keep) -> Response {
    let keep = match keep {
        Keep::AskAgain => "no-cache",
        Keep::Never => "no-store",
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, keep),
    ];
    (headers, html).into_response()
}

/// A refusal as a page.
#[derive(Debug)]
pub(super) struct RefusedPage(Refusal);

impl IntoResponse for RefusedPage {
    fn into_response(self) -> Response {
        let mut response = page(pages::refusal(&self.0), Keep::Never);
        with_status(&mut response, &self.0);
        response
    }
}

/// Status and waiting time of a refusal, on a page that says more.
pub(super) fn with_status(response: &mut Response, refusal: &Refusal) {
    *response.status_mut() =
        StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if refusal.status() == 401 {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
}

impl From<Refused> for RefusedPage {
    fn from(Refused(refusal): Refused) -> Self {
        Self(refusal)
    }
}

impl From<Refusal> for RefusedPage {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<StoreError> for RefusedPage {
    fn from(error: StoreError) -> Self {
        Refused::from(error).into()
    }
}
