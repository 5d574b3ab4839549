//! All routes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::app::App;
use super::operation::Operation;
use super::reply::Refused;
use super::{admin, request_log};
use crate::protocol::Refusal;

/// What clients, coordinator and readers see.
pub fn router(app: Arc<App>) -> Router {
    let operations = Operation::ALL.into_iter().fold(Router::new(), |router, operation| {
        router.route(operation.path(), operation.handler())
    });
    operations
        .fallback(async || Refused(Refusal::NotFound { what: "such page" }))
        .method_not_allowed_fallback(async || Refused(Refusal::MethodNotAllowed))
        .layer(from_fn_with_state(Arc::clone(&app), request_log::log_request))
        .with_state(app)
}

/// What the machine's own monitoring sees.
pub fn admin_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(admin::metrics))
        .with_state(app)
}
