//! The real binary, in temporary folders, on data that the tests make themselves.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod demo;
mod experiment;
mod json_and_help;
mod same_every_time;
mod verdicts;
mod warnings;
mod whole_round;
mod world;
