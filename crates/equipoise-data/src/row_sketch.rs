//! Which different rows a table has, in bounded memory: the smallest digests of them.

use equipoise_core::Rows;

/// Digests that are kept of a table. What two tables of at most so many different rows share is counted
/// exactly; beyond that it is estimated, with a relative error of about `1/√m` where `m` digests are shared.
pub(crate) const MAX_DIGESTS: usize = 4096;

/// Places of the table in which digests are looked up: at most half of them are taken.
const PLACES: usize = 4 * MAX_DIGESTS;

/// A free place. A row with this digest is not kept, which is one of 2⁶⁴.
const FREE: u64 = u64::MAX;

/// The digests of a table's different rows, sorted; of a table with many, the smallest.
///
/// Digests are spread evenly, so that the smallest are a fair sample of the rows; and they are the same sample in every
/// table, so that rows that two tables share are in both of their samples or in neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSketch {
    digests: Vec<u64>,
    /// The digests of all rows that are less than this are there; [`FREE`] where none was left out.
    below: u64,
}

impl RowSketch {
    /// Bytes that sketches of so many tables take, and as much again for comparing them.
    pub(crate) fn most_bytes(n_tables: usize) -> usize {
        n_tables.saturating_mul(2 * MAX_DIGESTS * size_of::<u64>())
    }

    /// The digests, sorted.
    pub(crate) fn digests(&self) -> &[u64] {
        &self.digests
    }

    /// Digests less than this were all kept.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }

    /// How many digests are less than this.
    pub(crate) fn n_below(&self, bound: u64) -> usize {
        self.digests.partition_point(|digest| *digest < bound)
    }

    /// Different rows of the table: exactly if none was left out, else estimated.
    pub(crate) fn n_different(&self) -> f64 {
        if self.below == FREE {
            return self.digests.len() as f64;
        }
        self.digests.len() as f64 / (self.below as f64 / FREE as f64)
    }
}

/// A sketch on its way, while rows come in.
pub(crate) struct RowSketcher {
    /// Open addressing: a digest stands at the first free place behind that of its lowest bits.
    table: Vec<u64>,
    n_kept: usize,
    below: u64,
}

impl RowSketcher {
    /// Bytes that it takes.
    pub(crate) const BYTES: usize = (PLACES + 2 * MAX_DIGESTS) * size_of::<u64>();

    pub(crate) fn new() -> Self {
        Self { table: vec![FREE; PLACES], n_kept: 0, below: FREE }
    }

    /// Takes rows in, with sensitive attribute and label.
    pub(crate) fn add(&mut self, rows: &Rows) {
        for i in 0..rows.len() {
            self.add_digest(digest(rows.a(i), rows.is_positive(i)));
        }
    }

    fn add_digest(&mut self, digest: u64) {
        if digest >= self.below {
            return;
        }
        let mut place = digest as usize % PLACES;
        while self.table[place] != FREE {
            if self.table[place] == digest {
                return;
            }
            place = (place + 1) % PLACES;
        }
        self.table[place] = digest;
        self.n_kept += 1;
        if self.n_kept == 2 * MAX_DIGESTS {
            let kept = self.cut();
            self.table.fill(FREE);
            self.n_kept = 0;
            kept.into_iter().for_each(|digest| self.add_digest(digest));
        }
    }

    /// The smallest digests; the least of the others is what later ones must be less than.
    fn cut(&mut self) -> Vec<u64> {
        let mut digests: Vec<u64> = self.table.iter().copied().filter(|d| *d != FREE).collect();
        if digests.len() > MAX_DIGESTS {
            self.below = *digests.select_nth_unstable(MAX_DIGESTS).1;
            digests.truncate(MAX_DIGESTS);
        }
        digests
    }

    pub(crate) fn finish(mut self) -> RowSketch {
        let mut digests = self.cut();
        digests.sort_unstable();
        digests.shrink_to_fit();
        RowSketch { digests, below: self.below }
    }
}

/// The first bits behind the point of the square roots of 2, 3, 5 and 7. The first is, as a number, far larger than any
/// value of a row: no value makes a product 0 and so forgets what came before it.
const ROOTS: [u64; 4] =
    [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1];

/// Digest of a row and its label, from the bits of the numbers; 0 and −0 are one value. The same on every
/// machine. It is quick and no secret: whoever wants to hide a copy need only change its last digits.
fn digest(a: &[f64], positive: bool) -> u64 {
    let bits = |value: f64| (value + 0.0).to_bits();
    let mut state = ROOTS[1] ^ u64::from(positive);
    let (pairs, last) = a.as_chunks::<2>();
    for [first, second] in pairs {
        state = fold(state ^ bits(*first), ROOTS[0] ^ bits(*second));
    }
    for value in last {
        state = fold(state ^ bits(*value), ROOTS[0]);
    }
    // Every bit of the state reaches the highest bits, by which digests are sorted.
    for root in [ROOTS[2], ROOTS[3]] {
        state = (state ^ (state >> 32)).wrapping_mul(root);
    }
    state ^ (state >> 32)
}

/// Both halves of the product, on top of one another.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests;
