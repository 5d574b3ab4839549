//! How close proxy rows are to the client's own: the distance to the closest record.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::nearest::Tree;
use crate::rows::Rows;

/// Maximum number of rows on each side whose closest record is searched for. More would hardly change a median.
const MAX_ROWS: usize = 2000;

/// Distances to the closest record of the data, over features and sensitive attribute, in encoded units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// From proxy rows to the data.
    pub proxy_to_data: Distances,
    /// From rows of the data to the other rows, for comparison.
    pub data_to_data: Distances,
    /// Proxy rows among those measured that are exact copies of a row of the data.
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

/// Measures how close `proxy` is to `data`. Distances to no rows are infinite, never NaN.
pub fn measure_closeness(proxy: &Rows, data: &Rows, seed: u64) -> Closeness {
    let chosen_proxy = choose(proxy.len(), seed);
    let chosen_data = choose(data.len(), seed.wrapping_add(1));
    let tree = Tree::new(data);
    let from_proxy = tree.distances(proxy, &chosen_proxy, false);
    let from_data = tree.distances(data, &chosen_data, true);
    Closeness {
        copies: from_proxy.iter().filter(|&&d| d == 0.0).count(),
        proxy_to_data: summarise(from_proxy),
        data_to_data: summarise(from_data),
    }
}

fn choose(n_rows: usize, seed: u64) -> Vec<usize> {
    if n_rows <= MAX_ROWS {
        return (0..n_rows).collect();
    }
    sample(&mut ChaCha8Rng::seed_from_u64(seed), n_rows, MAX_ROWS).into_vec()
}

fn summarise(mut distances: Vec<f64>) -> Distances {
    distances.sort_unstable_by(f64::total_cmp);
    let middle = distances.get(distances.len() / 2).copied().unwrap_or(f64::INFINITY);
    Distances {
        rows: distances.len(),
        median: middle,
        minimum: distances.first().copied().unwrap_or(f64::INFINITY),
    }
}
