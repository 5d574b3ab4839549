//! The client side of the round server's protocol.

mod connection;
mod key_file;
mod pinned_key;
mod receipt_file;
mod server_log;
mod submission;

pub(crate) use connection::{
    AddressArgs, Connection, CoordinatorArgs, RefusedByServer, ServerArgs,
};
pub(crate) use key_file::{read_private_key, read_public_key};
pub(crate) use pinned_key::check_pinned_key;
pub(crate) use receipt_file::{read_receipt, save_receipt};
pub(crate) use server_log::fetch_server_log;
pub(crate) use submission::Submission;
