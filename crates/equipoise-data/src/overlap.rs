//! Finds clients that sent the same rows.
//!
//! Clients with similar tables share rows, and if all columns are categorical, even honest clients do. An overlap is a
//! fact about two tables and does not show who copied from whom.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use equipoise_core::{Overlap, Warning, WarningCode};

use crate::row_sketch::RowSketch;

/// Pairs that share less of the smaller table are not reported.
const MIN_SHARE: f64 = 0.1;
/// Pairs with fewer common digests are not reported: two rows may agree by chance, and fewer give no estimate.
const MIN_SEEN: usize = 10;
/// Maximum number of pairs listed.
const MAX_LISTED: usize = 20;

/// Common rows are counted pair by pair. If that takes more steps than this, for example for a thousand clients that
/// all share thousands of rows, a sample of at least [`MIN_COMMON`] common rows represents all.
const MAX_STEPS: u64 = 1 << 28;
const MIN_COMMON: usize = 64;

/// Pairs of clients that share at least 10 rows and a tenth of the smaller client's rows, largest share first.
///
/// Rows that make up less than about 0.25 % of a client with more than 4096 distinct rows may be missed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlaps {
    /// At most 20 pairs.
    pub listed: Vec<Overlap>,
    /// Number of further pairs.
    pub more: usize,
}

/// Maximum number of pairs that a warning describes.
const MAX_DESCRIBED: usize = 3;

impl Overlaps {
    /// One warning about all pairs. `None` if there are none.
    pub fn warning(&self) -> Option<Warning> {
        if self.listed.is_empty() {
            return None;
        }
        let described = self.listed.iter().take(MAX_DESCRIBED);
        let mut parts: Vec<String> = described.map(ToString::to_string).collect();
        match self.listed.len() + self.more - parts.len() {
            0 => {}
            1 => parts.push("1 more pair of clients shares rows".to_owned()),
            more => parts.push(format!("{more} more pairs of clients share rows")),
        }
        Some(Warning::new(WarningCode::SharedRows, parts.join("; ")))
    }
}

/// Finds the rows that clients share. Clients are sorted by id, and the sketches are in the same order.
pub(crate) fn find_overlaps(ids: &[String], sketches: &[RowSketch]) -> Overlaps {
    find_within(MAX_STEPS, ids, sketches)
}

fn find_within(max_steps: u64, ids: &[String], sketches: &[RowSketch]) -> Overlaps {
    let common = CommonRows::of(sketches, max_steps);
    let mut largest = Largest::default();
    // How many rows each client shares with the first client of a pair.
    let mut seen = vec![0_u32; sketches.len()];
    for (first, groups) in common.of_client.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
        seen.fill(0);
        for &group in groups {
            let holders = common.holders(group);
            let after = holders.partition_point(|&holder| holder as usize <= first);
            holders[after..].iter().for_each(|&holder| seen[holder as usize] += 1);
        }
        for (second, &seen) in seen.iter().enumerate().skip(first + 1) {
            let clients = [first, second];
            let pair = Pair::measure(clients, seen as usize, sketches, common.below);
            pair.into_iter().for_each(|pair| largest.add(pair));
        }
    }
    largest.name(ids)
}

/// An overlap, with clients by index.
struct Pair {
    clients: [usize; 2],
    shared_rows: u64,
    share: f64,
    estimated: bool,
}

impl Pair {
    /// `None` if the overlap of two clients, `seen` digests below `bound`, is too small to report.
    fn measure(
        clients: [usize; 2],
        seen: usize,
        sketches: &[RowSketch],
        bound: u64,
    ) -> Option<Self> {
        if seen < MIN_SEEN {
            return None;
        }
        let pair = clients.map(|client| &sketches[client]);
        // Below this, both sketches have every row: the same fair sample of both tables.
        let bound = pair.iter().map(|sketch| sketch.below()).fold(bound, u64::min);
        let [first, second] = pair.map(|sketch| (sketch.n_below(bound), sketch.n_distinct()));
        let (n_sampled, n_distinct) = if second.0 < first.0 { second } else { first };
        let share = seen as f64 / n_sampled as f64;
        (share >= MIN_SHARE).then(|| Self {
            clients,
            shared_rows: (share * n_distinct).round() as u64,
            share,
            estimated: bound < u64::MAX,
        })
    }
}

/// The largest overlaps, and the number of all.
#[derive(Default)]
struct Largest {
    kept: Vec<Pair>,
    n: usize,
}

impl Largest {
    fn add(&mut self, pair: Pair) {
        self.n += 1;
        self.kept.push(pair);
        if self.kept.len() > 50 * MAX_LISTED {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.kept.sort_by(|a, b| {
            let larger = b.share.total_cmp(&a.share).then(b.shared_rows.cmp(&a.shared_rows));
            larger.then(a.clients.cmp(&b.clients))
        });
        self.kept.truncate(MAX_LISTED);
    }

    fn name(mut self, ids: &[String]) -> Overlaps {
        self.cut();
        let more = self.n - self.kept.len();
        let listed = self.kept.into_iter().map(|pair| Overlap {
            clients: pair.clients.map(|client| ids[client].clone()),
            shared_rows: pair.shared_rows,
            share: pair.share,
            estimated: pair.estimated,
        });
        Overlaps { listed: listed.collect(), more }
    }
}

/// The digests that several clients have, and their holders.
struct CommonRows {
    /// Holders of all common digests, sorted within each digest.
    holders: Vec<u32>,
    /// End offset of each digest's holders.
    ends: Vec<usize>,
    /// The common digests of each client.
    of_client: Vec<Vec<u32>>,
    /// Only digests below this were compared.
    below: u64,
}

impl CommonRows {
    /// Merges all sketches in ascending order of digests.
    fn of(sketches: &[RowSketch], max_steps: u64) -> Self {
        let mut common = Self {
            holders: Vec::new(),
            ends: Vec::new(),
            of_client: vec![Vec::new(); sketches.len()],
            below: u64::MAX,
        };
        let digest = |client: usize, at: usize| sketches[client].digests().get(at).copied();
        let firsts = (0..sketches.len()).filter_map(|c| Some(Reverse((digest(c, 0)?, c, 0))));
        let mut next: BinaryHeap<Reverse<(u64, usize, usize)>> = firsts.collect();
        let (mut equal, mut steps) = (Vec::new(), 0);
        while let Some(Reverse((smallest, ..))) = next.peek().copied() {
            if steps > max_steps && common.ends.len() >= MIN_COMMON {
                common.below = smallest;
                break;
            }
            equal.clear();
            while let Some(mut head) = next.peek_mut().filter(|head| head.0.0 == smallest) {
                let Reverse((_, client, at)) = *head;
                equal.push(client as u32);
                match digest(client, at + 1) {
                    Some(digest) => *head = Reverse((digest, client, at + 1)),
                    None => drop(std::collections::binary_heap::PeekMut::pop(head)),
                }
            }
            if equal.len() > 1 {
                steps += (equal.len() * equal.len() / 2) as u64;
                common.push(&equal);
            }
        }
        common
    }

    fn push(&mut self, holders: &[u32]) {
        let group = self.ends.len() as u32;
        holders.iter().for_each(|&client| self.of_client[client as usize].push(group));
        self.holders.extend_from_slice(holders);
        self.ends.push(self.holders.len());
    }

    fn holders(&self, group: u32) -> &[u32] {
        let group = group as usize;
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.holders[start..self.ends[group]]
    }
}

#[cfg(test)]
mod tests;
