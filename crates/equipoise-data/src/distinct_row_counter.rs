//! Counts distinct rows in bounded memory.

use equipoise_core::Rows;

use crate::row_sketch::row_digest;

/// Maximum number of digests held: 40 MiB, and more than a round's default limit of rows.
const MAX_DIGESTS: usize = 5 << 20;

/// Counts distinct rows by a 64-bit digest. The count is exact up to 5 · 2²⁰ distinct rows and an estimate
/// beyond that, because then only digests that end in `level` zero bits are kept, each counting 2^level times.
///
/// Digests are sorted, not hashed into a table: rows crafted to collide only lower their sender's count.
#[derive(Debug)]
pub struct DistinctRowCounter {
    digests: Vec<u64>,
    max_digests: usize,
    level: u32,
}

impl Default for DistinctRowCounter {
    fn default() -> Self {
        Self::with_max(MAX_DIGESTS)
    }
}

impl DistinctRowCounter {
    fn with_max(max_digests: usize) -> Self {
        Self { digests: Vec::new(), max_digests, level: 0 }
    }

    /// Adds rows.
    pub fn add(&mut self, rows: &Rows) {
        for i in 0..rows.len() {
            self.add_digest(row_digest(rows, i));
        }
    }

    fn add_digest(&mut self, digest: u64) {
        if self.digests.len() == self.max_digests {
            self.merge();
            while self.digests.len() > self.max_digests / 4 * 3 {
                self.level += 1;
                self.digests.retain(|digest| digest.trailing_zeros() >= self.level);
            }
        }
        if digest.trailing_zeros() < self.level {
            return;
        }
        if self.digests.len() == self.digests.capacity() {
            // Doubling could exceed the maximum by half.
            let more = self.digests.len().clamp(1 << 10, self.max_digests / 4 + 1);
            self.digests.reserve_exact(more.min(self.max_digests - self.digests.len()).max(1));
        }
        self.digests.push(digest);
    }

    fn merge(&mut self) {
        self.digests.sort_unstable();
        self.digests.dedup();
    }

    /// Number of distinct rows added.
    pub fn count(mut self) -> u64 {
        self.merge();
        (self.digests.len() as u64) << self.level
    }
}

#[cfg(test)]
mod tests {
    use super::DistinctRowCounter;
    use crate::row_sketch::digest_of;

    fn count(max_digests: usize, rows: impl Iterator<Item = u32>) -> u64 {
        let mut distinct = DistinctRowCounter::with_max(max_digests);
        rows.for_each(|i| distinct.add_digest(digest_of(&[f64::from(i), 1.0], 1)));
        assert!(distinct.digests.capacity() <= max_digests);
        distinct.count()
    }

    #[test]
    fn counts_are_exact_up_to_the_maximum() {
        assert_eq!(count(4096, 0..4096), 4096);
        assert_eq!(count(4096, (0..100_000).map(|i| i % 3000)), 3000);
        assert_eq!(count(4096, std::iter::empty()), 0);
    }

    #[test]
    fn counts_beyond_the_maximum_are_close() {
        let found = count(4096, (0..200_000).map(|i| i % 100_000)) as f64;
        assert!((found / 1e5 - 1.0).abs() < 0.1, "{found}");
    }
}
