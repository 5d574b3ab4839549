//! All routes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};

use super::app::App;
use super::reply::Refused;
use super::{
    admin, coordinator, coordinator_pages, events, public_pages, request_log, results, upload,
};
use crate::protocol::Refusal;

/// What clients, coordinator and readers see.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/rounds", get(results::get_rounds))
        .route("/v1/rounds/{round}", get(results::get_round))
        .route("/v1/rounds/{round}/schema", get(results::get_schema))
        .route("/v1/rounds/{round}/events", get(events::get_events))
        .route("/v1/rounds/{round}/files/{file}", get(results::get_file))
        .route(
            "/v1/rounds/{round}/submissions/{client}",
            put(upload::put_submission).get(upload::get_receipt),
        )
        .route("/v1/rounds/{round}/submissions/{client}/upload", get(upload::get_upload))
        .route("/v1/rounds/{round}/clients", get(coordinator::get_clients))
        .route("/v1/rounds/{round}/clients/{client}/revoke", post(coordinator::revoke))
        .route("/v1/rounds/{round}/open", post(coordinator::open))
        .route("/v1/rounds/{round}/close", post(coordinator::close))
        .route("/v1/rounds/{round}/abort", post(coordinator::abort))
        .merge(page_routes())
        .fallback(async || Refused(Refusal::NotFound { what: "such page" }))
        .method_not_allowed_fallback(async || Refused(Refusal::MethodNotAllowed))
        .layer(from_fn_with_state(Arc::clone(&app), request_log::log_request))
        .with_state(app)
}

/// What a browser sees.
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
        .route(&below("{action}"), get(coordinator_pages::confirm).post(coordinator_pages::act))
        .route(
            &below("clients/{client}/revoke"),
            get(coordinator_pages::confirm_revoke).post(coordinator_pages::revoke),
        )
}

/// What the machine's own monitoring sees.
pub fn admin_router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(admin::healthz))
        .route("/readyz", get(admin::readyz))
        .route("/metrics", get(admin::metrics))
        .with_state(app)
}
