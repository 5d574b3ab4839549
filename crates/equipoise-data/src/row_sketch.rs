//! A sample of a table's distinct rows in bounded memory: the smallest digests.

use equipoise_core::{DistinctRows, Rows};

/// Maximum number of digests kept per table. Rows shared by two tables with at most this many distinct rows are
/// counted exactly. Beyond that the number is estimated, with a relative error of about `1/√m` if the samples
/// have `m` digests in common.
pub(crate) const MAX_DIGESTS: usize = 4096;

/// Slots of the hash table of digests. At most half of them are used.
const SLOTS: usize = 4 * MAX_DIGESTS;

/// An empty slot. A row with this digest is dropped, which happens to one row in 2⁶⁴.
const EMPTY: u64 = u64::MAX;

/// The smallest digests of a table's distinct rows, sorted.
///
/// Digests are uniformly distributed, so the smallest are a fair sample of the rows. A row that two tables share
/// is in both samples or in neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSketch {
    digests: Vec<u64>,
    /// Every digest less than this is kept. [`EMPTY`] if none was dropped.
    below: u64,
}

impl RowSketch {
    /// The digests, sorted.
    pub(crate) fn digests(&self) -> &[u64] {
        &self.digests
    }

    /// Every digest less than this is kept.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }

    /// Number of digests less than `bound`.
    pub(crate) fn n_below(&self, bound: u64) -> usize {
        self.digests.partition_point(|digest| *digest < bound)
    }

    /// Number of distinct rows in the table: exact if no digest was dropped, otherwise an estimate.
    pub(crate) fn n_distinct(&self) -> f64 {
        if self.below == EMPTY {
            return self.digests.len() as f64;
        }
        self.digests.len() as f64 / (self.below as f64 / EMPTY as f64)
    }
}

impl RowSketch {
    /// The sketch of a table, from sketches of its parts.
    pub(crate) fn of_parts(parts: &[Self]) -> Self {
        // The bound of a part is its first digest that was dropped.
        let digests = parts.iter().flat_map(|part| part.digests.iter().chain([&part.below]));
        let mut digests: Vec<u64> = digests.copied().filter(|digest| *digest != EMPTY).collect();
        digests.sort_unstable();
        digests.dedup();
        let below = digests.get(MAX_DIGESTS).copied().unwrap_or(EMPTY);
        digests.truncate(MAX_DIGESTS);
        Self { digests, below }
    }

    /// A sketch that was stored: [`digests`](Self::digests) and [`below`](Self::below).
    pub(crate) fn stored(digests: Vec<u64>, below: u64) -> Self {
        Self { digests, below }
    }

    /// Number of distinct rows, and whether it is an estimate.
    pub(crate) fn distinct_rows(&self) -> DistinctRows {
        DistinctRows { rows: self.n_distinct().round() as usize, estimated: self.below != EMPTY }
    }
}

/// Builds a [`RowSketch`] as rows arrive.
pub(crate) struct RowSketcher {
    /// Open addressing with linear probing, starting at the slot of the digest's lowest bits.
    table: Vec<u64>,
    n_kept: usize,
    below: u64,
}

impl RowSketcher {
    pub(crate) fn new() -> Self {
        Self { table: vec![EMPTY; SLOTS], n_kept: 0, below: EMPTY }
    }

    /// Adds rows: features, group and label.
    pub(crate) fn add(&mut self, rows: &Rows) {
        for i in 0..rows.len() {
            self.add_digest(row_digest(rows, i));
        }
    }

    fn add_digest(&mut self, digest: u64) {
        if digest >= self.below {
            return;
        }
        let mut slot = digest as usize % SLOTS;
        while self.table[slot] != EMPTY {
            if self.table[slot] == digest {
                return;
            }
            slot = (slot + 1) % SLOTS;
        }
        self.table[slot] = digest;
        self.n_kept += 1;
        if self.n_kept == 2 * MAX_DIGESTS {
            let kept = self.smallest();
            self.table.fill(EMPTY);
            self.n_kept = 0;
            kept.into_iter().for_each(|digest| self.add_digest(digest));
        }
    }

    /// The smallest digests. The first one dropped becomes the new bound.
    fn smallest(&mut self) -> Vec<u64> {
        let mut digests: Vec<u64> = self.table.iter().copied().filter(|d| *d != EMPTY).collect();
        if digests.len() > MAX_DIGESTS {
            self.below = *digests.select_nth_unstable(MAX_DIGESTS).1;
            digests.truncate(MAX_DIGESTS);
        }
        digests
    }

    pub(crate) fn finish(mut self) -> RowSketch {
        let mut digests = self.smallest();
        digests.sort_unstable();
        digests.shrink_to_fit();
        RowSketch { digests, below: self.below }
    }
}

/// The leading bits of the fractional parts of √2, √3, √5 and √7. As a float the first is far larger than any
/// value of a row, so no value makes a factor 0 and thereby erases the state.
const ROOTS: [u64; 4] =
    [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

/// Digest of row `i` with its group and label, from the bits of the numbers; 0 and −0 are equal. It is the same on every
/// machine, and fast rather than cryptographic: changing a last digit is enough to hide a copy anyway.
pub(crate) fn row_digest(rows: &Rows, i: usize) -> u64 {
    // The row has its group's indicators, unless the model is blind.
    let group = if rows.layout().as_feature { 0 } else { rows.group(i) as u64 };
    digest_of(rows.a(i), u64::from(rows.is_positive(i)) | group << 1)
}

/// Digest of numbers and a mark.
pub(crate) fn digest_of(a: &[f64], mark: u64) -> u64 {
    let bits = |value: f64| (value + 0.0).to_bits();
    let mut state = ROOTS[1] ^ mark;
    let (pairs, last) = a.as_chunks::<2>();
    for [first, second] in pairs {
        state = fold(state ^ bits(*first), ROOTS[0] ^ bits(*second));
    }
    for value in last {
        state = fold(state ^ bits(*value), ROOTS[0]);
    }
    // Every bit of the state must affect the highest bits, because digests are sorted.
    for root in [ROOTS[2], ROOTS[3]] {
        state = (state ^ (state >> 32)).wrapping_mul(root);
    }
    state ^ (state >> 32)
}

/// The exclusive or of both halves of the product.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests;
