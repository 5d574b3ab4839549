#![no_main]

#[allow(dead_code)]
#[path = "../../crates/equipoise-server/tests/server/fuzz_targets.rs"]
mod fuzz_targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz_targets::name_in_address(data));
