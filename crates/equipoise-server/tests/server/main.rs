//! Tests of the router in process, on temporary data directories, with a mock clock and a fake disk.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod authentication;
mod backup;
mod configuration;
mod damage;
mod durability;
mod events;
mod files;
mod forger;
mod forgeries;
mod fuzz;
mod fuzz_targets;
mod json_schema;
mod lifecycle;
mod log_rules;
mod monitoring;
mod openapi;
mod pages;
mod protocol;
mod receipts;
mod row_groups;
mod server_log;
mod strange_requests;
mod uploads;
mod world;
