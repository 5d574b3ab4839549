//! A real mailbox on loopback, and what its clients, its coordinator and strangers get from it.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod http;
mod kill;
mod requests;
mod world;
