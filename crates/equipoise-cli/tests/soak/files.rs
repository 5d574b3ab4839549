//! Valid proxies, and the roots. The content depends on a seed alone.

use std::io::Write as _;
use std::sync::Arc;

use equipoise_data::{Schema, TableKind, read_proxy, write_proxy};
use equipoise_server::protocol::Digest;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::random::Random;

/// A file that a client sends.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) kind: TableKind,
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) digest: Digest,
    pub(crate) validity: Validity,
}

/// What the server must make of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    Invalid,
    /// A mutant may still be valid.
    Unknown,
}

impl File {
    pub(crate) fn new(kind: TableKind, bytes: Vec<u8>, validity: Validity) -> Self {
        let digest = Digest::of(&bytes);
        Self { kind, bytes: Arc::new(bytes), digest, validity }
    }

    /// A valid proxy: usually small, sometimes a few megabytes.
    pub(crate) fn honest(schema: &Schema, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let bytes = match random.below(20) {
            0..10 => random.range(1 << 10, 8 << 10),
            10..17 => random.range(30 << 10, 300 << 10),
            17..19 => random.range(500 << 10, 1 << 20),
            _ => random.range(2 << 20, 4 << 20),
        };
        let kind = random.pick(&TableKind::ALL);
        let text = header(schema) + &rows(schema, bytes as usize, &mut random);
        Self::new(kind, encode(&text, kind, schema), Validity::Valid)
    }

    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

pub(crate) fn header(schema: &Schema) -> String {
    format!("{},group,passed\n", schema.encoded_names().join(","))
}

/// Encoded rows as CSV, about this many bytes.
pub(crate) fn rows(schema: &Schema, bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        let Row { features, is_privileged, is_positive } = Row::new(schema, random);
        let (group, passed) = (u8::from(is_privileged), if is_positive { 1 } else { -1 });
        text += &format!("{features}{group},{passed}\n");
    }
    text
}

/// The root of a client: raw rows as CSV.
pub(crate) fn root(schema: &Schema, random: &mut Random) -> String {
    let mut text = header(schema);
    for _ in 0..24 {
        let Row { features, is_privileged, is_positive } = Row::new(schema, random);
        let (group, passed) = (if is_privileged { "A" } else { "B" }, u8::from(is_positive));
        text += &format!("{features}{group},{passed}\n");
    }
    text
}

struct Row {
    /// Each with a comma after it.
    features: String,
    is_privileged: bool,
    is_positive: bool,
}

impl Row {
    fn new(schema: &Schema, random: &mut Random) -> Self {
        let (mut features, mut sum) = (String::new(), random.below(2000) as f64 / 1e3 - 1.0);
        for _ in schema.encoded_names() {
            let value = random.below(4_000_000) as f64 / 1e6 - 2.0;
            sum += value;
            features += &format!("{value:.6},");
        }
        Self { features, is_privileged: random.chance(50), is_positive: sum > 0.0 }
    }
}

/// CSV text in another format.
pub(crate) fn encode(text: &str, kind: TableKind, schema: &Schema) -> Vec<u8> {
    match kind {
        TableKind::Csv => text.as_bytes().to_vec(),
        TableKind::CsvGz => gzip(text.as_bytes(), Compression::fast()),
        TableKind::Parquet => {
            let dir = tempfile::tempdir().unwrap();
            let (csv, parquet) = (dir.path().join("rows.csv"), dir.path().join("rows.parquet"));
            std::fs::write(&csv, text).unwrap();
            write_proxy(&parquet, &read_proxy(&csv, schema).unwrap(), schema, false).unwrap();
            std::fs::read(parquet).unwrap()
        }
    }
}

pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
