//! The one place where a refusal becomes a response.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tracing::error;

use crate::protocol::Refusal;
use crate::store::StoreError;

pub(super) type Answer<T = Response> = Result<T, Refused>;

/// A refusal as a JSON response.
#[derive(Debug)]
pub(super) struct Refused(pub(super) Refusal);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        refuse(&self.0, Json(self.0.body()).into_response())
    }
}

pub(super) fn refuse(refusal: &Refusal, mut response: Response) -> Response {
    *response.status_mut() =
        StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if refusal.status() == 401 {
        let scheme = match refusal {
            Refusal::NotCoordinator => "Bearer",
            _ => "Equipoise-Signature",
        };
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
    }
    response
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self(match error {
            StoreError::Refused(refusal) => refusal,
            StoreError::DiskFull => Refusal::DiskFull,
            other => {
                error!(error = %other, "request failed");
                Refusal::Internal
            }
        })
    }
}
