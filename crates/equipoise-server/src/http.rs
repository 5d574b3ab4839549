//! HTTP: routes, who may do what, and the way of a body to the store.

mod admin;
mod app;
mod auth;
mod coordinator;
mod events;
mod gates;
mod listener;
mod metrics;
mod receiving;
mod reply;
mod request_log;
mod results;
mod router;
mod tls;
mod upload;

pub use app::App;
pub use listener::{Listening, Peer, serve};
pub use router::{admin_router, router};
pub use tls::tls_acceptor;
pub(crate) use upload::offset_of_upload;
