//! How many different rows, in bounded memory.

use equipoise_core::Rows;
use sha2::{Digest as _, Sha256};

/// Marks held at once, 80 MiB of them: more than a round's default limit of rows.
const MAX_MARKS: usize = 5 << 20;

/// Counts different rows by 128 bits of a digest, which nobody can make collide. Where there are more than
/// [`MAX_MARKS`], only marks that end in `level` zero bits are kept, and each counts 2^level times.
pub(super) struct DistinctRows {
    marks: Vec<u128>,
    most: usize,
    level: u32,
}

impl DistinctRows {
    pub(super) fn new() -> Self {
        Self::with_at_most(MAX_MARKS)
    }

    fn with_at_most(most: usize) -> Self {
        Self { marks: Vec::new(), most, level: 0 }
    }

    pub(super) fn add(&mut self, rows: &Rows) {
        for i in 0..rows.len() {
            let mut hasher = Sha256::new();
            // 0 and −0 are one value.
            rows.a(i).iter().for_each(|value| hasher.update((value + 0.0).to_le_bytes()));
            hasher.update([u8::from(rows.is_positive(i))]);
            let digest: [u8; 32] = hasher.finalize().into();
            let mut half = [0; 16];
            half.copy_from_slice(&digest[..16]);
            self.add_mark(u128::from_le_bytes(half));
        }
    }

    fn add_mark(&mut self, mark: u128) {
        if mark.trailing_zeros() < self.level {
            return;
        }
        if self.marks.len() == self.most {
            self.merge();
            while self.marks.len() > self.most / 4 * 3 {
                self.level += 1;
                self.marks.retain(|mark| mark.trailing_zeros() >= self.level);
            }
            if mark.trailing_zeros() < self.level {
                return;
            }
        }
        if self.marks.len() == self.marks.capacity() {
            // Doubling would take half as much again as is allowed.
            let more = self.marks.len().clamp(1 << 10, self.most / 4 + 1);
            self.marks.reserve_exact(more.min(self.most - self.marks.len()).max(1));
        }
        self.marks.push(mark);
    }

    fn merge(&mut self) {
        self.marks.sort_unstable();
        self.marks.dedup();
    }

    /// Different rows so far.
    pub(super) fn count(mut self) -> u64 {
        self.merge();
        (self.marks.len() as u64) << self.level
    }
}

#[cfg(test)]
mod tests {
    use super::DistinctRows;

    /// The middle of a multiplication: random enough for marks.
    fn mark(i: u128) -> u128 {
        let spread = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (spread ^ (spread >> 61)).wrapping_mul(0xd6e8_feb8_6659_fd93_d6e8_feb8_6659_fd93) >> 20
    }

    fn count(most: usize, marks: impl Iterator<Item = u128>) -> u64 {
        let mut distinct = DistinctRows::with_at_most(most);
        marks.for_each(|i| distinct.add_mark(mark(i)));
        assert!(distinct.marks.capacity() <= most);
        distinct.count()
    }

    #[test]
    fn counts_are_exact_while_the_different_rows_have_room() {
        assert_eq!(count(4096, 0..4096), 4096);
        assert_eq!(count(4096, (0..100_000).map(|i| i % 3000)), 3000);
        assert_eq!(count(4096, std::iter::empty()), 0);
    }

    #[test]
    fn beyond_that_they_are_close() {
        let found = count(4096, (0..200_000).map(|i| i % 100_000)) as f64;
        assert!((found / 1e5 - 1.0).abs() < 0.1, "{found}");
    }
}
