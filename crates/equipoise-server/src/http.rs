//! HTTP: routes, who may do what, and the way of a body to the store.

mod admin;
mod app;
mod auth;
mod coordinator;
mod description;
mod events;
mod gates;
mod listener;
mod metrics;
mod operation;
mod receiving;
mod reply;
mod request_log;
mod results;
mod router;
mod segments;
mod tls;
mod upload;

pub use app::App;
pub use listener::{Listening, Peer, serve};
pub use operation::Operation;
pub use router::{admin_router, router};
pub use tls::Certificate;
