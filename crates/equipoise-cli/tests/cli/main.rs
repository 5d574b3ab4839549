//! Runs the real binary in temporary folders, on generated data.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod absent;
mod adapt;
mod arena;
mod bad_input;
mod certificates;
mod crowd;
mod data;
mod deadline;
mod demo;
mod experiment;
mod fair_queue;
mod fleet;
mod forks;
mod groups;
// Not all of its features are used here.
#[allow(dead_code)]
#[path = "../../../equipoise-lab/tests/https_server/mod.rs"]
mod https_server;
mod interruption;
mod json_and_help;
mod load;
mod many_rows;
#[path = "../shared/mutant.rs"]
mod mutant;
mod mutants;
mod new_rounds;
mod operations;
mod origins;
mod permissions;
mod pinned_keys;
mod privacy;
mod proxies;
#[path = "../shared/random.rs"]
mod random;
mod rehearsal;
mod reproducibility;
mod resume;
mod sandbox;
mod schemas;
mod server;
mod slow_peers;
#[path = "../shared/stored_files.rs"]
mod stored_files;
mod strangers;
mod tables;
mod unscored_rows;
mod upload_races;
mod verdicts;
mod verify;
mod warnings;
mod whole_round;
#[path = "../shared/wire.rs"]
mod wire;
mod world;
