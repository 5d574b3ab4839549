#![no_main]

use equipoise_server::fuzz_targets::csv_gz_proxy;

libfuzzer_sys::fuzz_target!(|data: &[u8]| csv_gz_proxy(data));
