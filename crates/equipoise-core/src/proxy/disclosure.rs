//! What a proxy discloses about the people in a client's data: copies, rows that are close to real ones, whether an attacker
//! can tell who is in the data, and a group and label with few people.

mod membership;

pub use membership::{MembershipAttack, attack_membership};

use std::hash::{DefaultHasher, Hash, Hasher};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::rows::Rows;

/// Maximum number of rows on each side whose nearest row is searched for. More would hardly change a median.
pub(super) const MAX_MEASURED_ROWS: usize = 2000;
/// Numbers of the data that each of them is compared with at most, but for a thousand rows: a sample of a larger table.
const MAX_COMPARED: usize = 1_000_000;
/// Rows that are compared with a point at once, column by column, so that the processor's vectors are full.
const BLOCK: usize = 64;

/// Distances to the nearest row of the data, over features and sensitive attribute, in encoded units. A table of more than a
/// million values is represented by a sample of that size, for both distances.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// From proxy rows to the data.
    pub proxy_to_data: Distances,
    /// From rows of the data to the other rows, for comparison.
    pub data_to_data: Distances,
    /// The median distance between two rows of the data that are chosen at random: how far apart typical rows are. Rows of
    /// categories often have a twin, at distance 0, but are as far apart as others.
    pub between_rows: f64,
    /// Proxy rows that are exact copies of a row of the data.
    pub copies: usize,
}

/// A sample of distances.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Rows measured: all, or a seeded sample of 2000.
    pub rows: usize,
    /// Their median distance.
    pub median: f64,
    /// Their smallest distance.
    pub minimum: f64,
}

/// The group and label of the fewest people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SmallestCell {
    /// The group.
    pub group: String,
    /// Whether the label is positive.
    pub positive: bool,
    /// Rows of the data.
    pub rows: usize,
}

/// Measures how close `proxy` is to `data`. Distances to no rows are infinite, never NaN.
pub fn measure_closeness(proxy: &Rows, data: &Rows, seed: u64) -> Closeness {
    measure_some(proxy, data, seed, MAX_MEASURED_ROWS)
}

/// Measures closeness at no more than `limit` rows on each side; with 0, nothing.
pub(super) fn measure_some(proxy: &Rows, data: &Rows, seed: u64, limit: usize) -> Closeness {
    if limit == 0 {
        let none = summarise(Vec::new());
        let between_rows = none.median;
        return Closeness { proxy_to_data: none, data_to_data: none, between_rows, copies: 0 };
    }
    let compared = choose_compared(data, seed.wrapping_add(2));
    let to = (data, &compared[..]);
    let from_proxy = choose(proxy.len(), limit, seed);
    let from_data = choose(data.len(), limit, seed.wrapping_add(1));
    Closeness {
        proxy_to_data: summarise(nearest((proxy, &from_proxy), to, false)),
        data_to_data: summarise(nearest((data, &from_data), to, true)),
        between_rows: summarise(between(data, &from_data, seed.wrapping_add(3))).median,
        copies: count_copies(proxy, data),
    }
}

/// The group and label that has rows, but the fewest. `None` without rows.
pub fn smallest_cell(data: &Rows) -> Option<SmallestCell> {
    let counts = data.cell_counts();
    let of_group = |(group, cell): (usize, &[usize; 2])| [0, 1].map(|y| (group, y == 1, cell[y]));
    let cells = counts.iter().enumerate().flat_map(of_group);
    let (group, positive, rows) = cells.filter(|cell| cell.2 > 0).min_by_key(|cell| cell.2)?;
    let group = data.layout().groups.name(group).to_owned();
    Some(SmallestCell { group, positive, rows })
}

/// A random half of the rows, and the other half.
pub fn random_halves(rows: &Rows, seed: u64) -> (Rows, Rows) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let (one, other) = order.split_at(rows.len().div_ceil(2));
    (rows.select(one), rows.select(other))
}

/// The distances from the chosen rows of `from` to the nearest of the chosen rows of `to`. With `skip_self`, both are the
/// same table, and a row is not compared with itself. The distance to no row is infinite.
fn nearest(
    (from, chosen): (&Rows, &[usize]),
    (to, compared): (&Rows, &[usize]),
    skip_self: bool,
) -> Vec<f64> {
    let n = to.layout().indicators().end;
    // Block after block, and in each block column after column.
    let blocks: Vec<Vec<f64>> = compared
        .chunks(BLOCK)
        .map(|rows| (0..n).flat_map(|k| rows.iter().map(move |&j| to.a(j)[k])).collect())
        .collect();
    let to_nearest = |&i: &usize| {
        let mut nearest = f64::INFINITY;
        for (rows, columns) in compared.chunks(BLOCK).zip(&blocks) {
            let mut squared = [0.0; BLOCK];
            for (own, column) in from.a(i).iter().zip(columns.chunks_exact(rows.len())) {
                let sums = squared.iter_mut().zip(column);
                sums.for_each(|(sum, other)| *sum += (own - other) * (own - other));
            }
            for (squared, &j) in squared.iter().zip(rows) {
                if !(skip_self && i == j) {
                    nearest = nearest.min(*squared);
                }
            }
        }
        nearest.sqrt()
    };
    chosen.par_iter().map(to_nearest).collect()
}

/// The distances from the chosen rows to others, chosen at random.
fn between(rows: &Rows, chosen: &[usize], seed: u64) -> Vec<f64> {
    let mut others = chosen.to_vec();
    others.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let n = rows.layout().indicators().end;
    let pairs = chosen.iter().zip(others).filter(|(i, j)| **i != *j);
    let squared = |(&i, j): (&usize, usize)| -> f64 {
        rows.a(i)[..n].iter().zip(rows.a(j)).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    pairs.map(squared).map(f64::sqrt).collect()
}

/// Rows of `proxy` whose features and group are those of a row of `data`, by digests of 64 bits.
fn count_copies(proxy: &Rows, data: &Rows) -> usize {
    let digest = |rows: &Rows, i: usize| {
        let mut hasher = DefaultHasher::new();
        // Adding 0 turns −0 into 0.
        rows.x(i).iter().for_each(|v| (v + 0.0).to_bits().hash(&mut hasher));
        rows.group(i).hash(&mut hasher);
        hasher.finish()
    };
    let mut known: Vec<u64> = (0..data.len()).into_par_iter().map(|i| digest(data, i)).collect();
    known.par_sort_unstable();
    let is_copy = |i: &usize| known.binary_search(&digest(proxy, *i)).is_ok();
    (0..proxy.len()).into_par_iter().filter(is_copy).count()
}

/// The rows of a table that others are compared with.
fn choose_compared(rows: &Rows, seed: u64) -> Vec<usize> {
    choose(rows.len(), (MAX_COMPARED / rows.layout().n().max(1)).max(1000), seed)
}

fn choose(n_rows: usize, max_rows: usize, seed: u64) -> Vec<usize> {
    if n_rows <= max_rows {
        return (0..n_rows).collect();
    }
    sample(&mut ChaCha8Rng::seed_from_u64(seed), n_rows, max_rows).into_vec()
}

fn summarise(mut distances: Vec<f64>) -> Distances {
    distances.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| distances.get(place).copied().unwrap_or(f64::INFINITY);
    Distances { rows: distances.len(), median: at(distances.len() / 2), minimum: at(0) }
}

#[cfg(test)]
mod tests;
