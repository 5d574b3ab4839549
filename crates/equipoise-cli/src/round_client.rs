//! A client of the round server: what `submit`, `status`, `close` and `model` speak with.

mod connection;
mod key_file;
mod refused;
mod submission;

pub(crate) use connection::{Connection, ServerArgs};
pub(crate) use key_file::{read_private_key, read_public_key};
pub(crate) use refused::RefusedByServer;
pub(crate) use submission::Submission;
