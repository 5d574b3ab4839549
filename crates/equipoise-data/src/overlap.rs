//! Which clients sent the same rows as others.
//!
//! Clients whose tables are alike share rows: where all columns are categories, honest ones do, too. What is told here is
//! a fact about two tables and proves nothing about who copied what.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::row_sketch::RowSketch;

/// Pairs that share less of the smaller table are not told.
const MIN_SHARE: f64 = 0.1;
/// Pairs of whose common rows fewer were seen are not told: two rows may agree by chance, and an estimate from fewer
/// is none.
const MIN_SEEN: usize = 10;
/// Pairs that are told.
const MAX_LISTED: usize = 20;

/// Rows in common are counted pair by pair. Where that would take more steps than this, as among a thousand clients
/// that all share thousands of rows, a sample of at least so many common rows stands for all.
const MAX_STEPS: u64 = 1 << 28;
const MIN_COMMON: usize = 64;

/// Two clients that sent some of the same rows: features, sensitive attribute and label alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The clients, sorted.
    pub clients: [String; 2],
    /// Different rows that both have.
    pub shared_rows: u64,
    /// The same as a share of the different rows of the client that has fewer.
    pub share: f64,
    /// Whether the numbers are estimates, as they are where a client has more than 4096 different rows.
    pub estimated: bool,
}

/// What clients share, largest share first: pairs with at least 10 rows and a tenth of the smaller client's.
///
/// Rows that make up less than about 0.25 % of a client with more than 4096 different rows may go unnoticed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overlaps {
    /// At most 20 pairs.
    pub told: Vec<Overlap>,
    /// Pairs beyond those.
    pub more: usize,
}

impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { clients: [first, second], shared_rows, share, estimated } = self;
        let about = if *estimated { "about " } else { "" };
        write!(
            f,
            "clients `{first}` and `{second}` share {about}{shared_rows} different rows, {about}{:.0} % of those of \
             the client that has fewer",
            100.0 * share
        )
    }
}

/// Finds what clients share. The sketches are in the order of the clients, who are sorted by id.
pub(crate) fn find_overlaps(ids: &[String], sketches: &[RowSketch]) -> Overlaps {
    find_within(MAX_STEPS, ids, sketches)
}

fn find_within(most_steps: u64, ids: &[String], sketches: &[RowSketch]) -> Overlaps {
    let common = CommonRows::of(sketches, most_steps);
    let mut largest = Largest::default();
    // How many rows each client shares with the first one of a pair.
    let mut seen = vec![0_u32; sketches.len()];
    for (first, groups) in common.of_client.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
        seen.fill(0);
        for &group in groups {
            let holders = common.holders(group);
            let behind = holders.partition_point(|&holder| holder as usize <= first);
            holders[behind..].iter().for_each(|&holder| seen[holder as usize] += 1);
        }
        for (second, &seen) in seen.iter().enumerate().skip(first + 1) {
            let pair = Pair { first, second, seen: seen as usize };
            pair.measure(sketches, common.below).into_iter().for_each(|pair| largest.add(pair));
        }
    }
    largest.name(ids)
}

/// Two clients, and how many digests their sketches have in common.
struct Pair {
    first: usize,
    second: usize,
    seen: usize,
}

/// An overlap whose clients have no names yet.
struct Measured {
    clients: [usize; 2],
    shared_rows: u64,
    share: f64,
    estimated: bool,
}

/// The largest of the overlaps that came, and the number of all.
#[derive(Default)]
struct Largest {
    kept: Vec<Measured>,
    n: usize,
}

impl Largest {
    fn add(&mut self, pair: Measured) {
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
        let told = self.kept.into_iter().map(|measured| Overlap {
            clients: measured.clients.map(|client| ids[client].clone()),
            shared_rows: measured.shared_rows,
            share: measured.share,
            estimated: measured.estimated,
        });
        Overlaps { told: told.collect(), more }
    }
}

impl Pair {
    /// `None` where it is not worth telling. Digests below `bound` were looked at.
    fn measure(&self, sketches: &[RowSketch], bound: u64) -> Option<Measured> {
        if self.seen < MIN_SEEN {
            return None;
        }
        let pair = [&sketches[self.first], &sketches[self.second]];
        // Below this, both sketches hold every row: the same fair sample of both tables.
        let bound = pair.iter().map(|sketch| sketch.below()).fold(bound, u64::min);
        let [first, second] = pair.map(|sketch| (sketch.n_below(bound), sketch.n_distinct()));
        let (n_sampled, n_distinct) = if second.0 < first.0 { second } else { first };
        let share = self.seen as f64 / n_sampled as f64;
        (share >= MIN_SHARE).then(|| Measured {
            clients: [self.first, self.second],
            shared_rows: (share * n_distinct).round() as u64,
            share,
            estimated: bound < u64::MAX,
        })
    }
}

/// The digests that more than one client has, and who has them.
struct CommonRows {
    /// Holders of all common digests, one digest behind the other, each sorted.
    holders: Vec<u32>,
    /// Where the holders of a digest end.
    ends: Vec<usize>,
    /// The common digests of each client.
    of_client: Vec<Vec<u32>>,
    /// Only digests below this were looked at.
    below: u64,
}

impl CommonRows {
    /// Goes through all sketches at once, from the smallest digest on.
    fn of(sketches: &[RowSketch], most_steps: u64) -> Self {
        let mut common = Self {
            holders: Vec::new(),
            ends: Vec::new(),
            of_client: vec![Vec::new(); sketches.len()],
            below: u64::MAX,
        };
        let digest = |client: usize, at: usize| sketches[client].digests().get(at).copied();
        let firsts = (0..sketches.len()).filter_map(|c| Some(Reverse((digest(c, 0)?, c, 0))));
        let mut next: BinaryHeap<Reverse<(u64, usize, usize)>> = firsts.collect();
        let (mut alike, mut steps) = (Vec::new(), 0);
        while let Some(Reverse((smallest, ..))) = next.peek().copied() {
            if steps > most_steps && common.ends.len() >= MIN_COMMON {
                common.below = smallest;
                break;
            }
            alike.clear();
            while let Some(mut head) = next.peek_mut().filter(|head| head.0.0 == smallest) {
                let Reverse((_, client, at)) = *head;
                alike.push(client as u32);
                match digest(client, at + 1) {
                    Some(digest) => *head = Reverse((digest, client, at + 1)),
                    None => drop(std::collections::binary_heap::PeekMut::pop(head)),
                }
            }
            if alike.len() > 1 {
                steps += (alike.len() * alike.len() / 2) as u64;
                common.push(&alike);
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
