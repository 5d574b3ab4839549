//! The distinct rows of a client, and how often each occurs.

use std::hash::{BuildHasher, RandomState};

use crate::rows::Rows;

/// Merging is worthwhile if at most this share of the rows is distinct: counts cost memory, and one logarithm per row
/// instead of one for four rows.
const WORTH_MERGING: f64 = 0.7;

/// The search ends early if nearly all of the first rows are distinct.
const EARLY_ROWS: usize = 4096;
const NEARLY_ALL: f64 = 0.95;

/// The search ends at more distinct rows than this, which bounds its memory.
pub(super) const MAX_DISTINCT: usize = 65_536;

/// Rows per chunk of memory: growing allocates a chunk and moves nothing.
const CHUNK: usize = 256;

/// A free slot of the table.
const FREE: u32 = u32::MAX;

/// The distinct rows so far, in the order of their first occurrence. Rows and labels are compared bit by bit, so 0 and −0
/// differ, which costs a merge at most.
pub(super) struct DistinctRows {
    n: usize,
    n_rows: usize,
    counts: Vec<f64>,
    /// Rows, each followed by its label.
    chunks: Vec<Vec<f64>>,
    /// Indices of rows in a hash table with linear probing, whose length is a power of two and at least twice the number
    /// of rows.
    table: Vec<u32>,
    key: Key,
}

/// Keys a hash at random, unlike the row digest of the data crate, so that no client can craft rows that collide.
struct Key([u64; 3]);

impl Key {
    fn new() -> Self {
        let state = RandomState::new();
        Self([1, 2, 3].map(|part: u8| state.hash_one(part)))
    }

    /// The hash of a row and its label: products of pairs of values, each value combined with a secret.
    fn hash(&self, a: &[f64], label: f64) -> u64 {
        let [start, first, second] = self.0;
        let fold = |x: u64, y: u64| {
            let product = u128::from(x) * u128::from(y);
            product as u64 ^ (product >> 64) as u64
        };
        let mut state = start ^ label.to_bits();
        let (pairs, last) = a.as_chunks::<2>();
        for [u, v] in pairs {
            state = fold(state ^ u.to_bits() ^ first, v.to_bits() ^ second).rotate_left(23) ^ state;
        }
        for u in last {
            state = fold(state ^ u.to_bits() ^ first, second);
        }
        fold(state ^ second, first | 1)
    }
}

impl DistinctRows {
    /// No rows yet, for rows of `n` entries.
    pub(super) fn new(n: usize) -> Self {
        let table = vec![FREE; 64];
        Self { n, n_rows: 0, counts: Vec::new(), chunks: Vec::new(), table, key: Key::new() }
    }

    /// Counts a row. `false` if merging cannot be worthwhile, which ends the search.
    pub(super) fn add(&mut self, rows: &Rows, i: usize) -> bool {
        let (a, label) = (rows.a(i), rows.labels()[i]);
        self.n_rows += 1;
        let slot = self.slot(a, label);
        if self.table[slot] != FREE {
            self.counts[self.table[slot] as usize] += 1.0;
            return true;
        }
        let distinct = self.counts.len() + 1;
        let is_early = self.n_rows == EARLY_ROWS + 1;
        let too_many = is_early && distinct as f64 > NEARLY_ALL * self.n_rows as f64;
        if too_many || distinct > MAX_DISTINCT {
            return false;
        }
        self.table[slot] = self.counts.len() as u32;
        if self.counts.len().is_multiple_of(CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK * (self.n + 1)));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(a);
            chunk.push(label);
        }
        self.counts.push(1.0);
        if 2 * self.counts.len() > self.table.len() {
            self.grow();
        }
        true
    }

    /// Whether merging is worthwhile, after all rows have been added.
    pub(super) fn are_worth_merging(&self) -> bool {
        self.n_rows > 0 && self.counts.len() as f64 <= WORTH_MERGING * self.n_rows as f64
    }

    /// Number of distinct rows.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// A row, its label, and how often it occurs.
    pub(super) fn get(&self, index: usize) -> (&[f64], f64, f64) {
        let width = self.n + 1;
        let row = &self.chunks[index / CHUNK][index % CHUNK * width..][..width];
        (&row[..self.n], row[self.n], self.counts[index])
    }

    /// The slot of a row in the table, or the free slot where it belongs.
    fn slot(&self, a: &[f64], label: f64) -> usize {
        let last = self.table.len() - 1;
        let mut slot = self.key.hash(a, label) as usize & last;
        while self.table[slot] != FREE {
            let (row, y, _) = self.get(self.table[slot] as usize);
            let same = |(u, v): (&f64, &f64)| u.to_bits() == v.to_bits();
            if y.to_bits() == label.to_bits() && row.iter().zip(a).all(same) {
                break;
            }
            slot = (slot + 1) & last;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![FREE; 2 * self.table.len()];
        for index in 0..self.len() {
            let (row, label, _) = self.get(index);
            let slot = self.slot(row, label);
            self.table[slot] = index as u32;
        }
    }
}
