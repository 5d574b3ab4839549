//! How close proxy rows are to the client's own: the distance to the closest record.

use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::nearest::Tree;
use crate::rows::Rows;

/// Maximum number of rows on each side whose closest record is searched for. More would hardly change a median.
pub(super) const MAX_MEASURED_ROWS: usize = 2000;
/// Numbers to compare on each side, after which fewer rows must do: a tree of rows with many columns saves little.
const MAX_COMPARED: usize = 10_000_000_000;
/// Rows on each side that are always measured. The rank of their median is within 6 % of the true one (95 %).
const MIN_ROWS: usize = 250;

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
    /// Rows measured: all, or a seeded sample of 2000; fewer, but at least 250, if the data has more than 5 million values.
    pub rows: usize,
    /// Their median distance.
    pub median: f64,
    /// Their smallest distance.
    pub minimum: f64,
}

/// Measures how close `proxy` is to `data`. Distances to no rows are infinite, never NaN.
pub fn measure_closeness(proxy: &Rows, data: &Rows, seed: u64) -> Closeness {
    measure_some(proxy, data, seed, MAX_MEASURED_ROWS)
}

/// Measures closeness at no more than `limit` rows on each side.
pub(super) fn measure_some(proxy: &Rows, data: &Rows, seed: u64, limit: usize) -> Closeness {
    let max_rows = rows_to_measure(data.len() * data.layout().n()).min(limit);
    if max_rows == 0 {
        let none = summarise(Vec::new());
        return Closeness { proxy_to_data: none, data_to_data: none, copies: 0 };
    }
    let chosen_proxy = choose(proxy.len(), max_rows, seed);
    let chosen_data = choose(data.len(), max_rows, seed.wrapping_add(1));
    let tree = Tree::new(data);
    let from_proxy = tree.distances(proxy, &chosen_proxy, false);
    let from_data = tree.distances(data, &chosen_data, true);
    Closeness {
        copies: from_proxy.iter().filter(|&&d| d == 0.0).count(),
        proxy_to_data: summarise(from_proxy),
        data_to_data: summarise(from_data),
    }
}

/// Maximum number of rows to measure on each side, if the data has this number of values.
fn rows_to_measure(n_values: usize) -> usize {
    (MAX_COMPARED / n_values.max(1)).clamp(MIN_ROWS, MAX_MEASURED_ROWS)
}

fn choose(n_rows: usize, max_rows: usize, seed: u64) -> Vec<usize> {
    if n_rows <= max_rows {
        return (0..n_rows).collect();
    }
    sample(&mut ChaCha8Rng::seed_from_u64(seed), n_rows, max_rows).into_vec()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Layout;

    #[test]
    fn no_rows_are_measured_if_none_may_be() {
        let rows = Rows::new(Layout::two_groups(1, false), &[0.0, 1.0], &[0, 1], &[true, false])
            .expect("rows");
        let found = measure_some(&rows, &rows, 1, 0);
        assert_eq!((found.proxy_to_data.rows, found.data_to_data.rows), (0, 0));
        assert_eq!((found.proxy_to_data.median, found.copies), (f64::INFINITY, 0));
    }

    #[test]
    fn large_tables_are_measured_at_fewer_rows() {
        for (n_values, rows) in [
            (0, 2000),
            (60_000 * 40, 2000),
            (10_000_000, 1000),
            (40_000_000, 250),
            (usize::MAX, 250),
        ] {
            assert_eq!(rows_to_measure(n_values), rows, "{n_values}");
        }
        assert_eq!(choose(3, 250, 1), [0, 1, 2]);
        let mut chosen = choose(1000, 250, 1);
        chosen.sort_unstable();
        chosen.dedup();
        assert_eq!(chosen.len(), 250);
    }
}
