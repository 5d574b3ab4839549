#![no_main]

use equipoise_server::fuzz_targets::upload_headers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| upload_headers(data));
