//! The client side of the round server's protocol.

mod connection;
mod key_file;
mod submission;

pub(crate) use connection::{Connection, CoordinatorArgs, RefusedByServer, ServerArgs};
pub(crate) use key_file::{read_private_key, read_public_key};
pub(crate) use submission::Submission;
