//! One fuzz target for each parser of untrusted bytes. None may panic.
//!
//! `fuzz/` includes this file and runs them under libFuzzer, `tests/server/fuzz.rs` with mutants of valid inputs on a stable toolchain. No
//! route reads a JSON body, so there is no target for one.

use std::path::Path;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderValue};
use equipoise_data::{Schema, TableKind};

use equipoise_server::http::upload_offset;
use equipoise_server::protocol::{ClientId, Digest, MANIFEST_HEADER, Manifest, OFFSET_HEADER};
use equipoise_server::protocol::{NameError, SubmissionLimits};
use equipoise_server::protocol::{PrivateKey, PublicKey, SIGNATURE_HEADER, Signature};
use equipoise_server::validator::{Job, Verdict, check_file};

/// A fuzz target.
pub(crate) type Target = fn(&[u8]);

/// All targets by name, as in `fuzz/fuzz_targets/`.
pub(crate) const TARGETS: [(&str, Target); 7] = [
    ("manifest_header", manifest_header),
    ("key_and_signature", key_and_signature),
    ("upload_headers", upload_headers),
    ("name_in_address", name_in_address),
    ("csv_proxy", csv_proxy),
    ("csv_gz_proxy", csv_gz_proxy),
    ("parquet_proxy", parquet_proxy),
];

/// The schema of the fuzzed files.
pub(crate) const SCHEMA: &str = r#"
version = 1
intercept = true
[label]
column = "passed"
positive = "1"
[sensitive]
column = "group"
privileged = "A"
[[feature]]
column = "score"
kind = "numeric"
center = 0.0
scale = 1.0
"#;

/// A valid manifest header has one spelling.
pub(crate) fn manifest_header(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(manifest) = Manifest::from_header(text) {
        assert_eq!(manifest.to_header(), text);
    }
}

/// Keys and signatures round-trip.
pub(crate) fn key_and_signature(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(key) = text.parse::<PublicKey>() {
        assert!(key.to_string().parse::<PublicKey>().is_ok_and(|again| again == key));
    }
    if let Ok(key) = PrivateKey::from_line(text) {
        assert!(PrivateKey::from_line(&key.to_line()).is_ok());
    }
    if let Ok(signature) = text.parse::<Signature>() {
        assert_eq!(signature.to_string().parse(), Ok(signature));
        let key = PrivateKey::from_seed(name(), [7; 32]).public();
        assert!(!key.verifies("equipoise-manifest 1", bytes, &signature));
    }
}

/// Headers of an upload, one `name: value` per line.
pub(crate) fn upload_headers(bytes: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let (Some(name), Some(value)) = (halves.next(), halves.next()) else { continue };
        let known = [
            "content-encoding",
            "content-type",
            "content-length",
            OFFSET_HEADER,
            MANIFEST_HEADER,
            SIGNATURE_HEADER,
        ];
        let known = known.into_iter().find(|known| known.as_bytes() == name);
        if let (Some(name), Ok(value)) = (known, HeaderValue::from_bytes(value.trim_ascii())) {
            headers.insert(name, value);
        }
    }
    let manifest = Manifest {
        audience: "https://round.example.org".into(),
        round: name(),
        client: name(),
        media_type: TableKind::Csv,
        length: 1000,
        sha256: Digest::ZERO,
        schema_sha256: Digest::ZERO,
    };
    if let Ok(offset) = upload_offset(&headers, &manifest) {
        assert!(offset <= manifest.length);
    }
}

/// The name of a round or a client, which becomes a file name.
pub(crate) fn name_in_address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(name) = text.parse::<ClientId>() {
        assert_eq!(name.as_str(), text);
        assert_eq!(Path::new(text).components().count(), 1);
        assert!(!text.starts_with('.'));
    }
}

/// A CSV file.
pub(crate) fn csv_proxy(bytes: &[u8]) {
    validate("fuzz.csv", bytes);
}

/// A gzipped CSV file.
pub(crate) fn csv_gz_proxy(bytes: &[u8]) {
    validate("fuzz.csv.gz", bytes);
}

/// A Parquet file.
pub(crate) fn parquet_proxy(bytes: &[u8]) {
    validate("fuzz.parquet", bytes);
}

/// Validates a file in this process. A canonical table is valid itself.
fn validate(name: &str, bytes: &[u8]) {
    let Ok(schema) = Schema::from_toml(SCHEMA, Path::new("schema.toml")) else { return };
    let Ok(folder) = tempfile::tempdir() else { return };
    let (file, canonical) = (folder.path().join(name), folder.path().join("canonical.parquet"));
    if std::fs::write(&file, bytes).is_err() {
        return;
    }
    let limits = SubmissionLimits { decoded_bytes: 16 << 20, ..SubmissionLimits::default() };
    let job = Job { client: (self::name(), self::name()), file, canonical, schema, limits };
    let verdict = check_file(&job);
    if matches!(verdict, Verdict::Valid(_)) {
        let again = folder.path().join("again.parquet");
        let again = Job { file: job.canonical, canonical: again, ..job };
        assert_eq!(check_file(&again), verdict);
    }
}

fn name<T: FromStr<Err = NameError>>() -> T {
    // Expect safety: a valid constant.
    "north".parse().expect("a name")
}
