//! Runs the real binary in temporary folders, on generated data.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bad_input;
mod certificates;
mod crowd;
mod data;
mod demo;
mod experiment;
mod fair_queue;
mod fleet;
mod forks;
// Not all of its features are used here.
#[allow(dead_code)]
#[path = "../../../equipoise-lab/tests/https_server/mod.rs"]
mod https_server;
mod json_and_help;
mod load;
mod many_rows;
mod mutants;
mod new_rounds;
mod operations;
mod permissions;
mod pinned_keys;
mod reproducibility;
mod resume;
mod sandbox;
mod server;
mod slow_peers;
mod strangers;
mod verdicts;
mod verify;
mod warnings;
mod whole_round;
mod world;
