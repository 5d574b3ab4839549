//! The files of the attack: a start that is a valid proxy by itself, and a rest that makes the whole invalid.

use equipoise_data::Hasher;
use equipoise_server::protocol::Digest;

use crate::fleet::Fleet;
use crate::random::Random;

/// Rows that all files share, so that a file of 100 MB costs no time to make.
pub(super) struct Rows(Vec<u8>);

impl Rows {
    pub(super) fn new(fleet: &Fleet, bytes: usize) -> Self {
        let block = fleet.proxy(u64::MAX, 1 << 20);
        let rows = block.split_once('\n').unwrap().1;
        Self(rows.as_bytes().repeat(1 + bytes / rows.len()))
    }

    /// Whole rows, about this many bytes.
    fn about(&self, bytes: u64) -> &[u8] {
        let start = (bytes as usize).min(self.0.len() - 1);
        let end = self.0[start..].iter().position(|byte| *byte == b'\n').unwrap();
        &self.0[..=start + end]
    }
}

/// A file in pieces: what is sent first, and the rest.
pub(super) struct File<'a> {
    first_rows: String,
    shared: &'a [u8],
    pub(super) rest: Vec<u8>,
    pub(super) is_valid: bool,
    pub(super) digest: Digest,
}

impl<'a> File<'a> {
    /// About this many bytes; the first rows differ between seeds.
    pub(super) fn new(
        fleet: &Fleet,
        rows: &'a Rows,
        seed: u64,
        bytes: u64,
        random: &mut Random,
    ) -> Self {
        let is_valid = random.chance(10);
        // Sometimes more than the server writes at a time.
        let rest_bytes = random.pick(&[0, 20 << 10, 200 << 10, 400 << 10]);
        let mut rest = rows.about(rest_bytes).to_vec();
        if !is_valid {
            let row = rest.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let last = rest.len() - row;
            rest.splice(last..last + 3, *b"nan");
        }
        let first_rows = fleet.proxy(seed, 400);
        let shared = rows.about(bytes.saturating_sub(rest_bytes));
        let mut hasher = Hasher::default();
        for piece in [first_rows.as_bytes(), shared, &rest] {
            hasher.update(piece);
        }
        Self { first_rows, shared, rest, is_valid, digest: hasher.finish() }
    }

    /// The start, a valid proxy.
    pub(super) fn start(&self) -> [&[u8]; 2] {
        [self.first_rows.as_bytes(), self.shared]
    }

    pub(super) fn start_bytes(&self) -> u64 {
        (self.first_rows.len() + self.shared.len()) as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.start_bytes() + self.rest.len() as u64
    }

    /// Another rest of the same length, with which the file is valid but has another digest.
    pub(super) fn other_rest(&self) -> Vec<u8> {
        let text = String::from_utf8_lossy(&self.rest);
        text.replace("nan", "1.5").replace('3', "4").into_bytes()
    }

    /// Valid rows of exactly this many bytes, cut at the end.
    pub(super) fn any_rows(&self, bytes: u64) -> Vec<u8> {
        self.shared.iter().copied().cycle().take(bytes as usize).collect()
    }
}
