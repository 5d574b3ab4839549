//! How the model of a proxy depends on its rows, and the smallest move of the rows that changes the model as requested.
//!
//! Row `j` has margin `m_j = y_j a_j·θ`, and with `p_j = σ(−m_j)`, `q_j = σ'(m_j)` the derivative of its
//! gradient in its features is `C_j = −y_j p_j E + q_j a_j θ_xᵀ`, where `E` selects the features of a row.
//! By the implicit function theorem `dθ/dx_j = −H⁻¹ C_j / N`, so the gradient of any `F(θ)` in row `j` is
//!
//! `−(1/N) C_jᵀ v = −(1/N) [ −y_j p_j v_x + q_j (a_j·v) θ_x ]`, with `v = H⁻¹ ∇F`.
//!
//! Rows move only in directions in which the data varies; `Q` is the projection onto them. The smallest move of all rows,
//! in the Euclidean norm, that changes `θ` by `δ` has the same form: `x_j` moves by `−(1/N) Q C_jᵀ z` with `z = M⁻¹ H δ`,
//! where `M = (1/N²) Σ_j C_j Q C_jᵀ` is only `n × n`.

use crate::error::Error;
use crate::kernel::OuterProducts;
use crate::linalg::{Cholesky, RangeProjection, symmetric_entry};
use crate::logistic::{dot, loss_terms};
use crate::packed_rows::BLOCK_ROWS;
use crate::rows::Rows;
use crate::statistics::triangle;
use rayon::prelude::*;

/// `z` for which moving every row by `−(1/N) Q C_jᵀ z` changes the model by `delta`, to first order. `hessian` is `H`
/// without its ridge.
pub(super) fn smallest_step(
    rows: &Rows,
    theta: &[f64],
    hessian: &[f64],
    ridge: f64,
    delta: &[f64],
    varying: &RangeProjection,
) -> Result<Vec<f64>, Error> {
    let change = multiply(hessian, ridge, delta);
    let reach = reach(rows, theta, varying);
    Ok(Cholesky::new(&reach, delta.len(), 0.0)?.solve(&change))
}

/// The rows, each moved by `−(length/N) Q C_jᵀ z`.
pub(super) fn moved_rows(
    rows: &Rows,
    theta: &[f64],
    z: &[f64],
    length: f64,
    varying: &RangeProjection,
) -> Rows {
    let mut moved = rows.clone();
    move_rows(rows, theta, z, length, varying, &mut moved);
    moved
}

/// As [`moved_rows`]. `moved` must differ from `rows` in features only, and gets those of the moved rows.
pub(super) fn move_rows(
    rows: &Rows,
    theta: &[f64],
    z: &[f64],
    length: f64,
    varying: &RangeProjection,
    moved: &mut Rows,
) {
    let scale = -length / rows.len() as f64;
    let n_x = rows.layout().n_x;
    let (z_moves, theta_moves) = (varying.apply(&z[..n_x]), varying.apply(&theta[..n_x]));
    moved.par_x_mut().enumerate().for_each(|(j, x)| {
        let (along_z, along_theta) = row_factors(rows, j, theta, z);
        let moves = z_moves.iter().zip(&theta_moves);
        for ((x, before), (z, t)) in x.iter_mut().zip(rows.x(j)).zip(moves) {
            *x = before + scale * (along_z * z + along_theta * t);
        }
    });
}

/// The gradient in every row of an `F(θ)` with `v = H⁻¹ ∇F`: `−(1/N) C_jᵀ v`, row by row.
pub(super) fn row_gradients(rows: &Rows, theta: &[f64], v: &[f64]) -> Vec<f64> {
    let (n_x, scale) = (rows.layout().n_x, -1.0 / rows.len() as f64);
    (0..rows.len())
        .flat_map(|j| {
            let (along_v, along_theta) = row_factors(rows, j, theta, v);
            (0..n_x).map(move |k| scale * (along_v * v[k] + along_theta * theta[k]))
        })
        .collect()
}

/// `C_jᵀ z` is the first factor times `z_x` plus the second times `θ_x`.
fn row_factors(rows: &Rows, j: usize, theta: &[f64], z: &[f64]) -> (f64, f64) {
    let (a, y) = (rows.a(j), rows.labels()[j]);
    let terms = loss_terms(y * dot(a, theta));
    (-y * terms.residual, terms.curvature * dot(a, z))
}

/// `M = (1/N²) Σ_j C_j Q C_jᵀ`, the lower triangle row by row. With `r = Σ y_j p_j q_j a_j` and `t = Q θ_x`,
/// `N² M = (Σ p_j²) E Q Eᵀ − (E t) rᵀ − r (E t)ᵀ + (θ_x·t) Σ q_j² a_j a_jᵀ`.
pub(super) fn reach(rows: &Rows, theta: &[f64], varying: &RangeProjection) -> Vec<f64> {
    let n = theta.len();
    let n_x = rows.layout().n_x;
    let sums: Vec<ReachSums> = (0..rows.len())
        .into_par_iter()
        .step_by(BLOCK_ROWS)
        .map(|start| ReachSums::of(rows, start..(start + BLOCK_ROWS).min(rows.len()), theta))
        .collect();
    let mut all = ReachSums::zeros(n);
    sums.iter().for_each(|sums| all.add(sums));

    let t = varying.apply(&theta[..n_x]);
    let theta_x_squared = dot(&theta[..n_x], &t);
    let feature = |v: &[f64], i: usize| if i < n_x { v[i] } else { 0.0 };
    let n_rows_squared = (rows.len() as f64).powi(2);
    let mut reach = Vec::with_capacity(triangle(n));
    for i in 0..n {
        for j in 0..=i {
            let both = i < n_x && j < n_x;
            let identity = if both { all.residual_squared * varying.entry(i, j) } else { 0.0 };
            let cross = feature(&t, i) * all.r[j] + all.r[i] * feature(&t, j);
            let gram = theta_x_squared * symmetric_entry(&all.gram, i, j);
            reach.push((identity - cross + gram) / n_rows_squared);
        }
    }
    reach
}

struct ReachSums {
    residual_squared: f64,
    r: Vec<f64>,
    gram: Vec<f64>,
}

impl ReachSums {
    fn zeros(n: usize) -> Self {
        Self { residual_squared: 0.0, r: vec![0.0; n], gram: vec![0.0; triangle(n)] }
    }

    fn of(rows: &Rows, range: std::ops::Range<usize>, theta: &[f64]) -> Self {
        let mut sums = Self::zeros(theta.len());
        let mut gram = OuterProducts::new(theta.len());
        for j in range {
            let (a, y) = (rows.a(j), rows.labels()[j]);
            let terms = loss_terms(y * dot(a, theta));
            sums.residual_squared += terms.residual * terms.residual;
            let factor = y * terms.residual * terms.curvature;
            sums.r.iter_mut().zip(a).for_each(|(r, v)| *r += factor * v);
            gram.add(terms.curvature * terms.curvature, a);
        }
        sums.gram = gram.finish();
        sums
    }

    fn add(&mut self, other: &Self) {
        self.residual_squared += other.residual_squared;
        self.r.iter_mut().zip(&other.r).for_each(|(sum, v)| *sum += v);
        self.gram.iter_mut().zip(&other.gram).for_each(|(sum, v)| *sum += v);
    }
}

/// `(A + shift·I) x` of a symmetric `A` given as its lower triangle.
fn multiply(triangle: &[f64], shift: f64, x: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| symmetric_entry(triangle, i, j);
    let n = x.len();
    (0..n).map(|i| shift * x[i] + (0..n).map(|j| entry(i, j) * x[j]).sum::<f64>()).collect()
}

#[cfg(test)]
mod tests;
