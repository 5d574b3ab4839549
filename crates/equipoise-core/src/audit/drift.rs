//! How far the means of a client's features are from those of the root.

use serde::{Deserialize, Serialize};

use crate::packed_rows::ColumnSummary;

/// The largest difference between the mean of a feature in a proxy and in the root, in its typical standard deviations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Mean in the proxy minus mean in the root, for the feature in which they differ most.
    pub largest: f64,
    /// Index of that feature.
    pub column: usize,
    /// What chance alone exceeds for any of the clients in at most 5 % of rounds whose clients all draw from the same
    /// population as the root.
    pub by_chance: f64,
    /// Root mean square of the differences of all features.
    pub overall: f64,
}

/// The typical standard deviation of each feature: the median over the clients, or that of the root if it is larger. A
/// few root rows without a rare value have too small a deviation, and a minority of clients cannot change the median.
pub(super) fn typical_deviations(
    clients: &[&ColumnSummary],
    root: &ColumnSummary,
    n_x: usize,
) -> Vec<f64> {
    let typical = |column: usize| {
        let mut deviations: Vec<f64> =
            clients.iter().map(|client| client.standard_deviation(column)).collect();
        deviations.sort_unstable_by(f64::total_cmp);
        // The lower of the two in the middle, so that one of two clients cannot hide behind its own spread.
        let median = deviations.get(deviations.len().saturating_sub(1) / 2).copied();
        // A column that is constant everywhere may only be rare. This is what one row of another level would give.
        let smallest = (1.0 / root.n_rows.max(1) as f64).sqrt();
        median.unwrap_or(0.0).max(root.standard_deviation(column)).max(smallest)
    };
    (0..n_x).map(typical).collect()
}

/// `None` if there are no features, or no rows. `deviations` are the [`typical_deviations`].
///
/// A proxy is a sample from a model of the client's rows, so its mean has twice the variance of a mean of `n` rows. In
/// standard deviations, its difference from the root's has a standard error of `e = √(2/n + 1/n_root)`. By the bound
/// `P(|Z| > z) ≤ exp(−z²/2)` on a normal variable, none of `m` features of `K` clients exceeds `e √(2 ln(mK/0.05))` with
/// a probability of at least 95 %, whatever their correlation, although all clients are compared with the same root.
pub(super) fn measure(
    client: &ColumnSummary,
    root: &ColumnSummary,
    deviations: &[f64],
    n_clients: usize,
) -> Option<Drift> {
    let n_x = deviations.len();
    if n_x == 0 || client.n_rows == 0 || root.n_rows == 0 {
        return None;
    }
    let (n, n_root) = (client.n_rows as f64, root.n_rows as f64);
    let difference = |column: usize| (client.mean(column) - root.mean(column)) / deviations[column];
    let differences: Vec<f64> = (0..n_x).map(difference).collect();
    let by_column = differences.iter().copied().enumerate();
    let (column, largest) = by_column.reduce(|a, b| if b.1.abs() > a.1.abs() { b } else { a })?;
    let error = (2.0 / n + 1.0 / n_root).sqrt();
    let squares: f64 = differences.iter().map(|d| d * d).sum();
    Some(Drift {
        largest,
        column,
        by_chance: error * (2.0 * ((n_x * n_clients) as f64 / 0.05).ln()).sqrt(),
        overall: (squares / n_x as f64).sqrt(),
    })
}
