//! Rows moved until the gradients of their mean loss are the wanted ones at several models.
//!
//! With `r_t(X) = g(θ_t; X) − ĝ_t`, the rows `X` minimise `½ Σ_t ‖r_t(X)‖² + (μ/2M) ‖X − X⁰‖²`, by Gauss–Newton. Row `j`
//! changes `r_t` by `C_tj / M` (see `rows_step`), so there are far more features to move than gradients to match, and each
//! step is computed in the space of the gradients, of dimension `n` times the number of models:
//!
//! `X − X⁰ = −Jᵀ z`, with `(J Jᵀ + (μ/M) I) z = r(X) − J (X − X⁰)`.

use super::super::exact_rows::loss_gradient;
use crate::error::Error;
use crate::kernel::OuterProducts;
use crate::linalg::{Cholesky, RangeProjection, symmetric_entry};
use crate::logistic::{dot, loss_terms};
use crate::newton::backtrack;
use crate::rows::Rows;
use rayon::prelude::*;

/// μ: a mean squared move of 1 costs as much as gradients that are wrong by √μ.
pub(super) const MOVE_PENALTY: f64 = 1e-5;
const MAX_STEPS: usize = 40;
const MAX_TRIALS: usize = 10;
/// A step that lowers the objective by less than this share is the last.
const SMALL_DECREASE: f64 = 1e-4;

/// Models, and the gradients of some rows' mean loss at each.
pub(super) struct PathGradients {
    pub(super) models: Vec<Vec<f64>>,
    pub(super) gradients: Vec<Vec<f64>>,
}

impl PathGradients {
    pub(super) fn of(rows: &Rows, models: Vec<Vec<f64>>) -> Self {
        let gradients = models.iter().map(|theta| mean_gradient(rows, theta)).collect();
        Self { models, gradients }
    }

    /// The gradients that `n_others` other rows must have, so that all have the wanted ones together with `fixed`.
    pub(super) fn after(&self, fixed: &Rows, n_others: usize) -> Self {
        let (n_fixed, n_others) = (fixed.len() as f64, n_others as f64);
        let rest = |(theta, wanted): (&Vec<f64>, &Vec<f64>)| {
            let found = mean_gradient(fixed, theta);
            let pairs = wanted.iter().zip(found);
            pairs.map(|(w, f)| ((n_fixed + n_others) * w - n_fixed * f) / n_others).collect()
        };
        let gradients = self.models.iter().zip(&self.gradients).map(rest).collect();
        Self { models: self.models.clone(), gradients }
    }

    /// `r(X)`: one model's difference after the other.
    pub(super) fn residual(&self, rows: &Rows) -> Vec<f64> {
        let at = |(theta, wanted): (&Vec<f64>, &Vec<f64>)| {
            let found = mean_gradient(rows, theta);
            found.into_iter().zip(wanted.clone()).map(|(found, wanted)| found - wanted)
        };
        self.models.iter().zip(&self.gradients).flat_map(at).collect()
    }
}

fn mean_gradient(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    loss_gradient(rows, theta, &vec![0.0; theta.len()])
}

/// The moved rows, and the number of steps that it took.
pub(super) struct MatchedRows {
    pub(super) rows: Rows,
    pub(super) steps: usize,
}

/// Moves `start` in the directions of `varying`. `move_penalty` is μ.
pub(super) fn match_path(
    start: Rows,
    wanted: &PathGradients,
    varying: &RangeProjection,
    move_penalty: f64,
) -> Result<MatchedRows, Error> {
    let penalty = move_penalty / start.len() as f64;
    let value = |residual: &[f64], moves: &[f64]| {
        0.5 * (dot(residual, residual) + penalty * dot(moves, moves))
    };
    let mut rows = start.clone();
    let mut moves = vec![0.0; start.len() * start.layout().n_x];
    let mut residual = wanted.residual(&rows);
    let mut steps = 0;
    while steps < MAX_STEPS {
        let jacobian = Jacobian::at(&rows, &wanted.models, varying);
        let reached = jacobian.apply(&moves);
        let right: Vec<f64> = residual.iter().zip(&reached).map(|(r, j)| r - j).collect();
        let factor = Cholesky::new(&jacobian.gram(), right.len(), penalty)?;
        let proposed = jacobian.apply_transposed(&factor.solve(&right));
        let before = value(&residual, &moves);
        let better = backtrack(MAX_TRIALS, |length| {
            let along = moves.iter().zip(&proposed).map(|(old, new)| old + length * (-new - old));
            let trial: Vec<f64> = along.collect();
            let there = moved(&start, &trial);
            let residual = wanted.residual(&there);
            let after = value(&residual, &trial);
            Ok((after < before).then_some((there, trial, residual, after)))
        })?;
        let Some((there, trial, new_residual, after)) = better else { break };
        (rows, moves, residual) = (there, trial, new_residual);
        steps += 1;
        if after > (1.0 - SMALL_DECREASE) * before {
            break;
        }
    }
    Ok(MatchedRows { rows, steps })
}

fn moved(start: &Rows, moves: &[f64]) -> Rows {
    let mut rows = start.clone();
    let n_x = start.layout().n_x.max(1);
    for (i, by) in moves.chunks_exact(n_x).enumerate() {
        rows.x_mut(i).iter_mut().zip(by).for_each(|(x, by)| *x += by);
    }
    rows
}

/// The derivative `J` of the gradients at all models in the features of all rows, as far as they may move.
pub(super) struct Jacobian<'a> {
    rows: &'a Rows,
    models: &'a [Vec<f64>],
    varying: &'a RangeProjection,
    /// `Q θ_x` of every model.
    directions: Vec<Vec<f64>>,
    /// `−y_j σ(−m)` and `σ'(m)` of every row, model by model.
    terms: Vec<Vec<(f64, f64)>>,
}

impl<'a> Jacobian<'a> {
    pub(super) fn at(rows: &'a Rows, models: &'a [Vec<f64>], varying: &'a RangeProjection) -> Self {
        let n_x = rows.layout().n_x;
        let directions = models.iter().map(|theta| varying.apply(&theta[..n_x])).collect();
        let term = |theta: &[f64], j: usize| {
            let y = rows.labels()[j];
            let terms = loss_terms(y * dot(rows.a(j), theta));
            (-y * terms.residual, terms.curvature)
        };
        let terms =
            models.iter().map(|theta| (0..rows.len()).map(|j| term(theta, j)).collect()).collect();
        Self { rows, models, varying, directions, terms }
    }

    /// `J D` for moves `D`, row by row, in directions that vary.
    pub(super) fn apply(&self, moves: &[f64]) -> Vec<f64> {
        let (n, n_x) = (self.rows.layout().n(), self.rows.layout().n_x);
        let scale = 1.0 / self.rows.len() as f64;
        let mut out = vec![0.0; n * self.models.len()];
        for ((out, theta), terms) in out.chunks_exact_mut(n).zip(self.models).zip(&self.terms) {
            for (j, &(along, curvature)) in terms.iter().enumerate() {
                let by = &moves[j * n_x..(j + 1) * n_x];
                let share = scale * curvature * dot(&theta[..n_x], by);
                out.iter_mut().zip(self.rows.a(j)).for_each(|(o, a)| *o += share * a);
                out.iter_mut().zip(by).for_each(|(o, d)| *o += scale * along * d);
            }
        }
        out
    }

    /// `Jᵀ z`, row by row.
    pub(super) fn apply_transposed(&self, z: &[f64]) -> Vec<f64> {
        let (n, n_x) = (self.rows.layout().n(), self.rows.layout().n_x);
        let scale = 1.0 / self.rows.len() as f64;
        let projected: Vec<Vec<f64>> =
            z.chunks_exact(n).map(|z| self.varying.apply(&z[..n_x])).collect();
        let mut moves = vec![0.0; self.rows.len() * n_x];
        for (j, by) in moves.chunks_exact_mut(n_x.max(1)).enumerate() {
            for (t, z) in z.chunks_exact(n).enumerate() {
                let (along, curvature) = self.terms[t][j];
                let (along, share) = (scale * along, scale * curvature * dot(self.rows.a(j), z));
                let directions = projected[t].iter().zip(&self.directions[t]);
                by.iter_mut()
                    .zip(directions)
                    .for_each(|(by, (z, theta))| *by += along * z + share * theta);
            }
        }
        moves
    }

    /// `J Jᵀ`, the lower triangle row by row. Its block for the models `s` and `t` is, with `e = −y σ(−m)` and `q = σ'(m)`,
    /// `Σ_j [e_s e_t E Q Eᵀ + e_s q_t (E Q θ_t) aᵀ + q_s e_t a (E Q θ_s)ᵀ + q_s q_t (θ_sᵀ Q θ_t) a aᵀ] / M²`.
    pub(super) fn gram(&self) -> Vec<f64> {
        let n = self.rows.layout().n();
        let n_models = self.models.len();
        let pairs: Vec<(usize, usize)> =
            (0..n_models).flat_map(|s| (0..=s).map(move |t| (s, t))).collect();
        let blocks: Vec<Vec<f64>> = pairs.par_iter().map(|&(s, t)| self.block(s, t)).collect();
        let mut triangle = Vec::with_capacity(n * n_models * (n * n_models + 1) / 2);
        for i in 0..n * n_models {
            for j in 0..=i {
                let (s, t) = (i / n, j / n);
                triangle.push(blocks[s * (s + 1) / 2 + t][(i % n) * n + j % n]);
            }
        }
        triangle
    }

    /// One block, all entries row by row.
    fn block(&self, s: usize, t: usize) -> Vec<f64> {
        let (n, n_x) = (self.rows.layout().n(), self.rows.layout().n_x);
        let (mut both, mut left, mut right) = (0.0, vec![0.0; n], vec![0.0; n]);
        let mut curved = OuterProducts::new(n);
        for j in 0..self.rows.len() {
            let ((e_s, q_s), (e_t, q_t)) = (self.terms[s][j], self.terms[t][j]);
            let a = self.rows.a(j);
            both += e_s * e_t;
            left.iter_mut().zip(a).for_each(|(sum, a)| *sum += e_s * q_t * a);
            right.iter_mut().zip(a).for_each(|(sum, a)| *sum += q_s * e_t * a);
            curved.add(q_s * q_t, a);
        }
        let curved = curved.finish();
        let bend = dot(&self.models[s][..n_x], &self.directions[t]);
        let direction = |t: usize, i: usize| if i < n_x { self.directions[t][i] } else { 0.0 };
        let scale = 1.0 / (self.rows.len() as f64).powi(2);
        let entry = |i: usize, k: usize| {
            let moved = if i < n_x && k < n_x { both * self.varying.entry(i, k) } else { 0.0 };
            let mixed = direction(t, i) * left[k] + right[i] * direction(s, k);
            scale * (moved + mixed + bend * symmetric_entry(&curved, i, k))
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }
}

#[cfg(test)]
mod tests;
