#![no_main]

use equipoise_server::fuzz_targets::parquet_proxy;

libfuzzer_sys::fuzz_target!(|data: &[u8]| parquet_proxy(data));
