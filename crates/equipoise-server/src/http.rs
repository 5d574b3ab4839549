//! HTTP: routes, authentication and the upload pipeline.

mod admin;
mod app;
mod auth;
mod coordinator;
mod coordinator_pages;
mod events;
mod form;
mod gates;
mod listener;
mod metrics;
mod operation;
mod page_reply;
mod page_views;
mod public_pages;
mod receiving;
mod refused_uploads;
mod reply;
mod request_log;
mod results;
mod router;
mod segments;
mod server_log;
mod sessions;
mod tls;
mod upload;

pub use app::App;
pub use listener::{Listening, Peer, serve};
pub use operation::Operation;
pub use router::{admin_router, router};
pub use tls::Certificate;
#[doc(hidden)]
pub use upload::upload_offset;
