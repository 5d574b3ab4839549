//! Which rows of a table are distinct, and how often each occurs.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::rows::Rows;

/// Merging pays where at most this share of the rows is distinct: counts cost memory and a logarithm for
/// every row, instead of one for four.
const WORTH_MERGING: f64 = 0.7;

/// Rows that are looked at before the search is given up, where nearly all of them are distinct: this share
/// of all, and at least so many.
const LOOKED_AT_SHARE: usize = 16;
const LOOKED_AT_LEAST: usize = 4096;
const NEARLY_ALL: f64 = 0.95;

/// The first row of each kind, in order, and how many there are of it; `None` where merging does not pay.
pub(super) fn distinct_rows(rows: &Rows) -> Option<(Vec<usize>, Vec<f64>)> {
    let n_rows = rows.len();
    let looked_at = (n_rows / LOOKED_AT_SHARE).max(LOOKED_AT_LEAST);
    let mut kinds: HashMap<Key<'_>, usize> = HashMap::new();
    let (mut kept, mut counts) = (Vec::new(), Vec::new());
    for i in 0..n_rows {
        let kind = *kinds.entry(Key { rows, i }).or_insert(kept.len());
        if kind == kept.len() {
            kept.push(i);
            counts.push(1.0);
            let limit = WORTH_MERGING * n_rows as f64;
            let early = i == looked_at && kept.len() as f64 > NEARLY_ALL * (i + 1) as f64;
            if early || kept.len() as f64 > limit {
                return None;
            }
        } else {
            counts[kind] += 1.0;
        }
    }
    (n_rows > 0).then_some((kept, counts))
}

/// A row and its label, compared bit by bit, so that a 0 and a −0 differ; that costs a merge at most.
struct Key<'a> {
    rows: &'a Rows,
    i: usize,
}

impl Key<'_> {
    fn bits(&self) -> impl Iterator<Item = u64> {
        let label = self.rows.labels()[self.i].to_bits();
        self.rows.a(self.i).iter().map(|v| v.to_bits()).chain([label])
    }
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().for_each(|bits| state.write_u64(bits));
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bits().eq(other.bits())
    }
}

impl Eq for Key<'_> {}
