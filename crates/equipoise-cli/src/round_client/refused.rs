//! A "no" from the server, in its own words.

use equipoise_server::protocol::RefusalBody;

/// The server refused, and says why.
#[derive(Debug, thiserror::Error)]
#[error("the server refused ({}): {}", body.code, body.message)]
pub(crate) struct RefusedByServer {
    pub(crate) status: u16,
    pub(crate) body: RefusalBody,
}

impl RefusedByServer {
    /// Whether the same request may succeed later.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502 | 503 | 504)
            || matches!(self.body.code.as_str(), "body_truncated" | "offset_mismatch")
    }
}
