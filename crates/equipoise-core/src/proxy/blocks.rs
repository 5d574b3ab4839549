//! Passes over rows in blocks of fixed size, so that sums do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

use crate::logistic::dot;
use crate::packed_rows::BLOCK_ROWS;
use crate::rows::Rows;

/// What `of` computes from each block of `n_rows` rows, in the order of the rows.
pub(super) fn map_blocks<T: Send>(
    n_rows: usize,
    of: impl Fn(Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    (0..n_rows)
        .into_par_iter()
        .step_by(BLOCK_ROWS)
        .map(|start| of(start..(start + BLOCK_ROWS).min(n_rows)))
        .collect()
}

/// Adds `term` to `sums`, entry by entry.
pub(super) fn add(sums: &mut [f64], term: &[f64]) {
    sums.iter_mut().zip(term).for_each(|(sum, v)| *sum += v);
}

/// The scores `a·θ` of all rows.
pub(super) fn scores(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    rows.values().par_chunks_exact(theta.len()).map(|a| dot(a, theta)).collect()
}
