//! Rounds from outside: what travels, what is on disk, and what must not happen.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod bytes;
mod chain;
mod deliveries;
mod disk;
mod forgeries;
mod lifecycle;
mod model;
mod world;
