#![no_main]

use equipoise_server::fuzz_targets::manifest_header;

libfuzzer_sys::fuzz_target!(|data: &[u8]| manifest_header(data));
