//! Fuzzes every parser of untrusted bytes with mutants of valid inputs, for one second each or for
//! `EQUIPOISE_FUZZ_SECONDS`. The same targets run under libFuzzer in `fuzz/`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use equipoise_data::write_proxy;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fuzz_targets::TARGETS;
use crate::world::{key, manifest, proxy, schema};

fn run(name: &str, seeds: &[Vec<u8>]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let seconds = std::env::var("EQUIPOISE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(1));
    let mut random = Random(0x5eed);
    let started = Instant::now();
    seeds.iter().for_each(|seed| target(seed));
    let mut n_runs = 0u64;
    while started.elapsed() < time {
        let seed = &seeds[random.below(seeds.len())];
        let mutant = random.mutant(seed);
        // Saves the mutant that panicked.
        let result = std::panic::catch_unwind(|| target(&mutant));
        if let Err(panic) = result {
            let file = std::env::temp_dir().join(format!("equipoise-fuzz-{name}-{n_runs}"));
            std::fs::write(&file, &mutant).unwrap();
            eprintln!("mutant {n_runs} of {name} panicked: {}", file.display());
            std::panic::resume_unwind(panic);
        }
        n_runs += 1;
    }
    eprintln!("{name}: {n_runs} mutants");
}

#[test]
fn manifest_header() {
    run("manifest_header", &[manifest("north", b"abc").to_header().into_bytes()]);
}

#[test]
fn key_and_signature() {
    let key = key("north");
    let signature = manifest("north", b"abc").sign(&key).to_string();
    run(
        "key_and_signature",
        &[key.public().to_string().into(), key.to_line().into(), signature.into()],
    );
}

#[test]
fn upload_headers() {
    let headers = "content-type: text/csv; charset=utf-8\ncontent-length: 900\nupload-offset: 100\n\
                   equipoise-upload-offset: 100\n";
    let offset = equipoise_server::protocol::OFFSET_HEADER;
    let other = format!("content-type: text/csv\ncontent-length: 900\n{offset}: 100");
    run("upload_headers", &[headers.into(), other.into()]);
}

#[test]
fn name_in_address() {
    run("name_in_address", &["north-1".into(), "a.b_c".into(), "../x".into()]);
}

#[test]
fn csv_proxy() {
    run("csv_proxy", &[proxy(1).into(), b"score,group,passed\r\n\"1\",0,-1\r\n".to_vec()]);
}

#[test]
fn csv_gz_proxy() {
    let packed = |level| {
        let mut out = GzEncoder::new(Vec::new(), level);
        out.write_all(proxy(1).as_bytes()).unwrap();
        out.finish().unwrap()
    };
    run("csv_gz_proxy", &[packed(Compression::best()), packed(Compression::none())]);
}

#[test]
fn parquet_proxy() {
    let dir = tempfile::tempdir().unwrap();
    let (csv, parquet) = (dir.path().join("a.csv"), dir.path().join("a.parquet"));
    std::fs::write(&csv, proxy(1)).unwrap();
    let rows = equipoise_data::read_proxy(&csv, &schema()).unwrap();
    write_proxy(&parquet, &rows, &schema(), false).unwrap();
    run("parquet_proxy", &[std::fs::read(parquet).unwrap()]);
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    fn mutant(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = self.next() as u8,
                2 => bytes.insert(at.min(bytes.len()), b"\n,\"-.0e\0\xff"[self.below(9)]),
                3 => bytes.truncate(at),
                4 if !bytes.is_empty() => {
                    let end = (at + 1 + self.below(16)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let end = (at + self.below(64)).min(bytes.len());
                    let piece = bytes[at.min(end)..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
            }
        }
        bytes
    }
}
