#![no_main]

use equipoise_server::fuzz_targets::key_and_signature;

libfuzzer_sys::fuzz_target!(|data: &[u8]| key_and_signature(data));
