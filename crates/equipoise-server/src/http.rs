//! HTTP: parses requests, calls one method of [`Rounds`](crate::round::Rounds) and replies.

mod admin;
mod app;
mod auth;
mod connection;
mod connections;
mod coordinator;
mod coordinator_pages;
mod events;
mod file_body;
mod form;
mod gates;
mod handlers;
mod listener;
mod listeners;
mod metrics;
mod monitored_stream;
mod page_reply;
mod page_views;
mod public_pages;
mod read_gate;
mod reply;
mod request_log;
mod results;
mod router;
mod segments;
mod server_log;
mod sessions;
mod shared_replies;
mod tls;
mod tracked_body;
mod upload;

pub use app::App;
pub use listener::{Listening, Peer, serve};
pub use router::{admin_router, router};
pub use tls::Certificate;
#[doc(hidden)]
pub use upload::upload_offset;
