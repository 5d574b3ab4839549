//! The mailbox of rounds, over HTTP.
//!
//! It checks a signature, stores bytes that it cannot read, appends an event and returns a signed receipt. It parses
//! no table, solves nothing, and its key signs nothing but receipts. Everything it decides is decided in
//! [`equipoise_round`]; here are only its five operations:
//!
//! ```text
//! PUT  /rounds/DIGEST               an invitation, an order, a sealed file or an extension → the receipt
//! GET  /rounds/DIGEST               the page, or its JSON with `Accept: application/json`
//! POST /rounds/DIGEST/pull          a signed order → the log, or a sealed file
//! GET  /rounds/DIGEST/files/NAME    a published file
//! GET  /health
//! ```
//!
//! A round's address is the digest of its invitation, and there is no list.

mod answer;
mod connection;
mod page;
mod rounds;
mod routes;
mod serve;
mod tls;
mod upload;

pub use rounds::{Rounds, open_key};
pub use serve::{Options, ServeError, TlsFiles, serve};
