//! The routes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::app::App;
use super::handlers::handler;
use super::reply::Refused;
use super::{admin, coordinator_pages, public_pages, read_gate, request_log};
use crate::openapi::Operation;
use crate::protocol::Refusal;

/// The public routes.
pub fn router(app: Arc<App>) -> Router {
    let operations = Operation::ALL.into_iter().fold(Router::new(), |router, operation| {
        router.route(operation.path(), handler(operation))
    });
    operations
        .merge(page_routes())
        .fallback(public_pages::no_such_page)
        .method_not_allowed_fallback(async || Refused(Refusal::MethodNotAllowed))
        .layer(from_fn_with_state(Arc::clone(&app), read_gate::take_turns))
        .layer(from_fn_with_state(Arc::clone(&app), request_log::log_request))
        .with_state(app)
}

fn page_routes() -> Router<Arc<App>> {
    let coordinator = "/rounds/{round}/coordinator";
    let below = |path: &str| format!("{coordinator}/{path}");
    Router::new()
        .route("/", get(public_pages::get_index))
        .route("/assets/page.css", get(public_pages::get_style))
        .route("/assets/round.js", get(public_pages::get_script))
        .route("/rounds/{round}", get(public_pages::get_round))
        .route(coordinator, get(coordinator_pages::get_coordinator))
        .route(&below("login"), post(coordinator_pages::log_in))
        .route(&below("logout"), post(coordinator_pages::log_out))
        .route(&below("{*action}"), get(coordinator_pages::confirm).post(coordinator_pages::act))
}

/// The routes for monitoring.
pub fn admin_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(admin::metrics))
        .with_state(app)
}
