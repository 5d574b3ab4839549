//! The round server: one submission each, nothing lost, nobody in who does not belong.
//!
//! | module | job |
//! | --- | --- |
//! | [`protocol`] | what travels and what is signed; shared with the client |
//! | [`store`] | what lasts: database, files, audit log |
//! | [`round`] | what a round is, and its way to a published model |
//! | [`validator`] | whether a file is a proxy, decided in a limited process |
//! | [`http`] | routes, authentication, uploads, limits of peers |
//! | [`openapi`] | what `/v1` does, for other programs |
//! | `pages` | the pages of a round, as HTML |
//! | [`verification`] | whether published files are what they say, offline |
//! | [`serve`] | all of it together, until SIGTERM |
//!
//! A submission's way: `http/upload.rs`, with `store/acceptance.rs` as the moment that counts.

mod clock;
mod config;
#[doc(hidden)]
pub mod fuzz_targets;
pub mod http;
mod hub;
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
pub use hub::Hub;
