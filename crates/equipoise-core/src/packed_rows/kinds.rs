//! The distinct rows of a client, and how often each occurs.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::rows::Rows;

/// Merging pays where at most this share of the rows is distinct: counts cost memory and a logarithm for
/// every row, instead of one for four.
const WORTH_MERGING: f64 = 0.7;

/// The search is given up where nearly all of the first rows are distinct, and where there are more kinds
/// than that at all: what is kept of them is bounded, however many rows there are.
const LOOKED_AT: usize = 4096;
const NEARLY_ALL: f64 = 0.95;
pub(super) const MAX_KINDS: usize = 65_536;

/// Kinds whose values stand in one piece of memory: more kinds need no larger piece, and nothing moves.
const PIECE: usize = 256;

/// A free place of the table.
const FREE: u32 = u32::MAX;

/// The kinds of rows seen so far, in the order of their first row. Rows and labels are compared bit by bit, so
/// that a 0 and a −0 differ; that costs a merge at most.
pub(super) struct Kinds {
    n: usize,
    n_rows: usize,
    counts: Vec<f64>,
    /// Rows, each with its label behind it, [`PIECE`] to a piece.
    pieces: Vec<Vec<f64>>,
    /// Open addressing: a kind stands at the first free place behind that of its hash. The length is a power of
    /// two and at least twice the number of kinds.
    table: Vec<u32>,
    /// Keyed at random, unlike the row digest of the data crate, so that no client can craft rows that collide.
    hasher: RandomState,
}

impl Kinds {
    /// None yet, of rows with `n` entries.
    pub(super) fn new(n: usize) -> Self {
        let table = vec![FREE; 64];
        let hasher = RandomState::new();
        Self { n, n_rows: 0, counts: Vec::new(), pieces: Vec::new(), table, hasher }
    }

    /// Bytes that the kinds of a client take at most.
    pub(super) fn most_bytes(n: usize) -> usize {
        // Values and label, count, and the table while it is copied into one of twice its length.
        MAX_KINDS * (8 * (n + 1) + 8 + 3 * 4)
    }

    /// Takes a row in. Whether merging may still pay: if not, there is no use in going on.
    pub(super) fn add(&mut self, rows: &Rows, i: usize) -> bool {
        let (a, label) = (rows.a(i), rows.labels()[i]);
        self.n_rows += 1;
        let place = self.place_of(a, label);
        if self.table[place] != FREE {
            self.counts[self.table[place] as usize] += 1.0;
            return true;
        }
        let kinds = self.counts.len() + 1;
        let looked_at = self.n_rows == LOOKED_AT + 1;
        let too_many = looked_at && kinds as f64 > NEARLY_ALL * self.n_rows as f64;
        if too_many || kinds > MAX_KINDS {
            return false;
        }
        self.table[place] = self.counts.len() as u32;
        if self.counts.len().is_multiple_of(PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE * (self.n + 1)));
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.extend_from_slice(a);
            piece.push(label);
        }
        self.counts.push(1.0);
        if 2 * self.counts.len() > self.table.len() {
            self.grow();
        }
        true
    }

    /// Whether merging pays, now that all rows have been seen.
    pub(super) fn are_worth_merging(&self) -> bool {
        self.n_rows > 0 && self.counts.len() as f64 <= WORTH_MERGING * self.n_rows as f64
    }

    /// Number of kinds.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The row of a kind, its label, and how often it occurs.
    pub(super) fn get(&self, kind: usize) -> (&[f64], f64, f64) {
        let width = self.n + 1;
        let row = &self.pieces[kind / PIECE][kind % PIECE * width..][..width];
        (&row[..self.n], row[self.n], self.counts[kind])
    }

    /// Where a row stands in the table, or would stand.
    fn place_of(&self, a: &[f64], label: f64) -> usize {
        let mut hasher = self.hasher.build_hasher();
        a.iter().chain([&label]).for_each(|v| hasher.write_u64(v.to_bits()));
        let last = self.table.len() - 1;
        let mut place = hasher.finish() as usize & last;
        while self.table[place] != FREE {
            let (row, y, _) = self.get(self.table[place] as usize);
            let same = |(u, v): (&f64, &f64)| u.to_bits() == v.to_bits();
            if y.to_bits() == label.to_bits() && row.iter().zip(a).all(same) {
                break;
            }
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![FREE; 2 * self.table.len()];
        for kind in 0..self.len() {
            let (row, label, _) = self.get(kind);
            let place = self.place_of(row, label);
            self.table[place] = kind as u32;
        }
    }
}
