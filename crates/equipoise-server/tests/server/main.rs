//! The router in process, on temporary data directories, with a clock and a disk that the tests command.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod authentication;
mod durability;
mod events;
mod files;
mod fuzz;
mod lifecycle;
mod protocol;
mod uploads;
mod world;
