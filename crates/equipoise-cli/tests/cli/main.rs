//! The real binary, in temporary folders, on data that the tests make themselves.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bad_input;
mod certificates;
mod data;
mod demo;
mod experiment;
mod fleet;
// Here it needs not do everything it can.
#[allow(dead_code)]
#[path = "../../../equipoise-lab/tests/https_server/mod.rs"]
mod https_server;
mod json_and_help;
mod load;
mod many_rows;
mod mutants;
mod operations;
mod resume;
mod same_every_time;
mod server;
mod slow_peers;
mod verdicts;
mod warnings;
mod whole_round;
mod world;
