//! The round server: one submission per client, nothing lost, and only rostered clients are admitted.
//!
//! | module | job |
//! | --- | --- |
//! | [`protocol`] | messages and signatures, shared with the client |
//! | [`store`] | persistent state: database, files, audit log |
//! | [`round`] | what a round does: admission, uploads, closing, solving, publishing |
//! | [`validator`] | checks uploaded files in a sandboxed process |
//! | [`http`] | routes, limits on peers; each handler calls one method of `round` |
//! | [`openapi`] | the OpenAPI description of `/v1` |
//! | `pages` | the HTML pages of a round |
//! | [`verification`] | offline verification of published files |
//! | [`comparison`] | detection of forks: two documents that contradict each other |
//! | [`serve`] | puts everything together and runs until SIGTERM |
//!
//! The upload pipeline is in `round/upload.rs`. A submission counts as accepted once the transaction in
//! `store/acceptance.rs` is committed.

mod clock;
pub mod comparison;
mod config;
pub mod http;
pub mod openapi;
mod pages;
pub mod protocol;
pub mod round;
pub mod serve;
pub mod store;
pub mod validator;
pub mod verification;

pub use clock::{Clock, MockClock, SystemClock};
pub use config::{Config, ConfigError, Limits, TlsFiles};
