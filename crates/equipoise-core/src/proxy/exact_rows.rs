//! The smallest moves of labelled rows after which a given model is the exact minimiser of their loss.
//!
//! Moving each row by `−(1/N) Q C_jᵀ z` changes the gradient of the loss by `−M z` to first order (see `rows_step`), so
//! `z = M⁻¹ ∇ℓ(θ)` makes it 0. A few such steps leave nothing but rounding errors.

use super::blocks::{add, map_blocks};
use super::rows_step::{move_rows, reach};
use crate::error::Error;
use crate::linalg::{Cholesky, RangeProjection, norm};
use crate::logistic::{dot, loss_terms};
use crate::newton::backtrack;
use crate::rows::Rows;

/// The norm of the gradient at which a model is the minimiser.
const TOLERANCE: f64 = 1e-13;
const MAX_STEPS: usize = 40;
const MAX_TRIALS: usize = 12;

/// The moved rows, and the number of steps that it took.
pub(super) struct ExactRows {
    pub(super) rows: Rows,
    pub(super) steps: usize,
}

/// Moves `rows` in the directions of `varying` until `theta` minimises their mean loss plus something else, whose gradient at `theta` is
/// `rest`: that of the ridge.
pub(super) fn make_exact(
    mut rows: Rows,
    theta: &[f64],
    rest: &[f64],
    varying: &RangeProjection,
) -> Result<ExactRows, Error> {
    let mut gradient = loss_gradient(&rows, theta, rest);
    let mut trial = rows.clone();
    let mut steps = 0;
    while norm(&gradient) > TOLERANCE && steps < MAX_STEPS {
        let factor = Cholesky::new(&reach(&rows, theta, varying), theta.len(), 0.0)?;
        let z = factor.solve(&gradient);
        let moved = backtrack(MAX_TRIALS, |length| {
            move_rows(&rows, theta, &z, length, varying, &mut trial);
            let there = loss_gradient(&trial, theta, rest);
            let is_smaller = norm(&there) < (1.0 - 1e-3 * length) * norm(&gradient);
            Ok(is_smaller.then_some(there))
        })?;
        // At the limit of floating-point precision no step makes the gradient smaller.
        let Some(there) = moved else { break };
        gradient = there;
        std::mem::swap(&mut rows, &mut trial);
        steps += 1;
    }
    Ok(ExactRows { rows, steps })
}

/// The gradient of `(ridge/2)‖θ‖²`.
pub(super) fn ridge_gradient(theta: &[f64], ridge: f64) -> Vec<f64> {
    theta.iter().map(|t| ridge * t).collect()
}

/// The gradient of the mean loss of `rows`, plus `rest`.
fn loss_gradient(rows: &Rows, theta: &[f64], rest: &[f64]) -> Vec<f64> {
    let n_rows = rows.len() as f64;
    let blocks = map_blocks(rows.len(), |range| {
        let mut sum = vec![0.0; theta.len()];
        for i in range {
            let (a, y) = (rows.a(i), rows.labels()[i]);
            let residual = y * loss_terms(y * dot(a, theta)).residual;
            sum.iter_mut().zip(a).for_each(|(sum, v)| *sum -= residual * v);
        }
        sum
    });
    let mut gradient = vec![0.0; theta.len()];
    blocks.iter().for_each(|block| add(&mut gradient, block));
    gradient.iter_mut().zip(rest).for_each(|(g, rest)| *g = *g / n_rows + rest);
    gradient
}

#[cfg(test)]
mod tests;
