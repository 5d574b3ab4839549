//! The router in process, on temporary data directories, with a clock and a disk that the tests command.
#![allow(clippy::unwrap_used)]

mod authentication;
mod durability;
mod events;
mod files;
mod lifecycle;
mod pages;
mod protocol;
mod uploads;
mod world;
