//! Responses with pages: their headers, and refusals as pages.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::reply::{Refused, refuse};
use crate::pages;
use crate::protocol::Refusal;

pub(super) type PageAnswer = Result<Response, RefusedPage>;

/// Everything is loaded from this server, and no site may frame its pages.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[derive(Debug, Clone, Copy)]
pub(super) enum Caching {
    /// Caches must revalidate before use.
    Revalidate,
    /// Never, because the page may contain client names.
    Never,
}

pub(super) fn page(html: impl Into<Body>, caching: Caching) -> Response {
    let cache_control = match caching {
        Caching::Revalidate => "no-cache",
        Caching::Never => "no-store",
    };
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, cache_control),
    ];
    (headers, html.into()).into_response()
}

/// A refusal as a page.
#[derive(Debug)]
pub(super) struct RefusedPage(Refusal);

impl IntoResponse for RefusedPage {
    fn into_response(self) -> Response {
        refuse(&self.0, page(pages::refusal(&self.0), Caching::Never))
    }
}

impl<E: Into<Refused>> From<E> for RefusedPage {
    fn from(error: E) -> Self {
        Self(error.into().0)
    }
}
