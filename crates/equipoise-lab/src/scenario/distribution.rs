//! How the rows of a population are distributed among clients.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// How the rows of a population are distributed among clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// At random, and as many for each client.
    #[default]
    Even,
    /// At random, with sizes in geometric progression: the last client has 20 times the rows of the first.
    Sizes,
}

/// Rows of the largest client for each row of the smallest.
const SIZE_RATIO: f64 = 20.0;

impl Distribution {
    /// The rows of every client, of those in `order`, which has been shuffled.
    pub(super) fn parts(self, order: &[usize], n_clients: usize) -> Vec<Vec<usize>> {
        match self {
            Self::Even => {
                let ends = (1..=n_clients).map(|k| k * order.len() / n_clients);
                consecutive(order, ends)
            }
            Self::Sizes => consecutive(order, geometric_ends(order.len(), n_clients).into_iter()),
        }
    }
}

/// Parts of `order` that end before these positions.
fn consecutive(order: &[usize], ends: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut start = 0;
    let part = |end: usize| order[std::mem::replace(&mut start, end)..end].to_vec();
    ends.map(part).collect()
}

/// Where parts end whose sizes are in geometric progression.
fn geometric_ends(n_rows: usize, n_clients: usize) -> Vec<usize> {
    let exponent = |k: usize| k as f64 / (n_clients - 1).max(1) as f64;
    let sizes: Vec<f64> = (0..n_clients).map(|k| SIZE_RATIO.powf(exponent(k))).collect();
    let total: f64 = sizes.iter().sum();
    let mut sum = 0.0;
    let end = |size: &f64| {
        sum += size;
        (n_rows as f64 * sum / total).round() as usize
    };
    sizes.iter().map(end).collect()
}
