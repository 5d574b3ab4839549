//! HTTP: parses requests, calls one method of [`Rounds`](crate::round::Rounds) and replies.

mod admin;
mod app;
mod auth;
mod coordinator;
mod coordinator_pages;
mod events;
mod form;
mod gates;
mod handlers;
mod listener;
mod metrics;
mod page_reply;
mod page_views;
mod public_pages;
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
pub use router::{admin_router, router};
pub use tls::Certificate;
#[doc(hidden)]
pub use upload::upload_offset;
