//! A small seeded generator (SplitMix64), so that a seed gives the same operations on every machine.

#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of one item of a sequence: items do not depend on each other.
    pub(crate) fn new(seed: u64, item: u64) -> Self {
        let mut random = Self(seed ^ item.wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `n` - 1.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// From `low` to `high` - 1.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}
