#![no_main]

use equipoise_server::fuzz_targets::name_in_address;

libfuzzer_sys::fuzz_target!(|data: &[u8]| name_in_address(data));
