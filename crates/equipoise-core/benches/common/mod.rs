//! Synthetic rows for the benchmarks, the same in every run.

use equipoise_core::{Layout, PackedRows, Rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of `n` entries including an intercept, whose labels follow a noisy linear score.
pub(crate) fn rows(seed: u64, n_rows: usize, n: usize) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let layout = Layout::two_groups(n - 2, true);
    let x: Vec<f64> = (0..n_rows * layout.n_x).map(|_| rng.random_range(-1.7..1.7)).collect();
    let sensitive: Vec<bool> = (0..n_rows).map(|_| rng.random_bool(0.6)).collect();
    let positive: Vec<bool> = x
        .chunks_exact(layout.n_x)
        .zip(&sensitive)
        .map(|(x, &s)| {
            let score = x[0] + 0.3 * x[x.len() - 1] + f64::from(s) - 0.4;
            score + rng.random_range(-2.0..2.0) > 0.0
        })
        .collect();
    // Unwrap safety: the sizes match, and all numbers are finite.
    #[allow(clippy::unwrap_used)]
    Rows::new(layout, &x, &sensitive, &positive).unwrap()
}

/// `n_rows` rows divided among five clients.
#[allow(dead_code)] // Not every benchmark needs it.
pub(crate) fn five_clients(n_rows: usize, n: usize) -> PackedRows {
    let clients: Vec<Rows> = (0..5).map(|c| rows(c, n_rows / 5, n)).collect();
    // Unwrap safety: there are clients, and all have the same layout.
    #[allow(clippy::unwrap_used)]
    PackedRows::of(&clients).unwrap()
}

/// A model whose margins on [`rows`] resemble those of a fit.
#[allow(dead_code)]
pub(crate) fn theta(n: usize) -> Vec<f64> {
    (0..n).map(|k| if k == 0 { 0.9 } else { 0.2 * (k as f64).sin() }).collect()
}
