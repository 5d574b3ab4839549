//! Dense linear algebra on symmetric matrices, given as the lower triangle row by row: Cholesky factors and the projection
//! onto a range. Plain loops, so that the result is the same on every processor.

use crate::error::Error;
use crate::logistic::dot;

/// The Cholesky factor of `A = L Lᵀ`.
pub(crate) struct Cholesky {
    n: usize,
    /// `L`, row by row, with the inverse of each diagonal entry in its stead.
    lower: Vec<f64>,
    /// What was added to the diagonal to make the matrix positive definite, usually 0.
    pub(crate) added_to_diagonal: f64,
}

impl Cholesky {
    /// Factors `A + shift·I`. If rounding has made the matrix indefinite, adds a multiple of the identity, from 1e-14 to
    /// 1e-4 of the largest diagonal entry, and reports it in `added_to_diagonal`.
    pub(crate) fn new(triangle: &[f64], n: usize, shift: f64) -> Result<Self, Error> {
        let largest = (0..n).map(|i| symmetric_entry(triangle, i, i)).fold(0.0, f64::max) + shift;
        let mut added = 0.0;
        let mut lower = vec![0.0; triangle.len()];
        loop {
            match factor(triangle, n, shift + added, &mut lower) {
                Ok(()) => return Ok(Self { n, lower, added_to_diagonal: added }),
                Err(index) => {
                    let next = if added == 0.0 { 1e-14 * largest } else { added * 100.0 };
                    if !next.is_finite() || next <= 0.0 || next > 1e-4 * largest {
                        return Err(Error::NotPositiveDefinite { index });
                    }
                    added = next;
                }
            }
        }
    }

    /// The rows of `L`, each up to its diagonal entry.
    pub(crate) fn lower(&self) -> Vec<Vec<f64>> {
        let row = |i: usize| {
            let mut row = row(&self.lower, i).to_vec();
            row[i] = 1.0 / row[i];
            row
        };
        (0..self.n).map(row).collect()
    }

    /// `A⁻¹ b`.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in 0..self.n {
            let row = row(&self.lower, i);
            x[i] = (x[i] - product(&row[..i], &x[..i])) * row[i];
        }
        for i in (0..self.n).rev() {
            let row = row(&self.lower, i);
            let last = x[i] * row[i];
            x[i] = last;
            x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= last * l);
        }
        x
    }
}

/// Rows factored together: each row above them is read from memory once for all of them.
const BLOCK: usize = 32;

/// Writes the factor of `A + shift·I` to `lower`. Fails with the index of the first pivot that is not positive.
///
/// Every entry is computed by the same operations whatever the block size.
fn factor(triangle: &[f64], n: usize, shift: f64, lower: &mut [f64]) -> Result<(), usize> {
    for start in (0..n).step_by(BLOCK) {
        let end = n.min(start + BLOCK);
        let (above, block) = lower.split_at_mut(row_start(start));
        for left in (0..start).step_by(4) {
            let rows: [&[f64]; 4] = std::array::from_fn(|k| row(above, left + k));
            for i in start..end {
                let own = &mut block[row_start(i) - row_start(start)..][..left + 4];
                let entries = row(triangle, i);
                let products = lane_products(&own[..left], rows);
                for k in 0..4 {
                    let j = left + k;
                    let product = products[k] + dot(&own[left..j], &rows[k][left..j]);
                    own[j] = (entries[j] - product) * rows[k][j];
                }
            }
        }
        for i in start..end {
            let (above, own) = lower.split_at_mut(row_start(i));
            let entries = row(triangle, i);
            for j in start..i {
                let other = row(above, j);
                own[j] = (entries[j] - product(&own[..j], &other[..j])) * other[j];
            }
            let pivot = entries[i] + shift - product(&own[..i], &own[..i]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(i);
            }
            own[i] = 1.0 / pivot.sqrt();
        }
    }
    Ok(())
}

/// `a·b`, summed in four lanes that a processor can add at once.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let whole = a.len() / 4 * 4;
    let [lanes] = lane_products(&a[..whole], [b]);
    lanes + dot(&a[whole..], &b[whole..])
}

/// `a·b` for each of some rows `b`, as far as `a` goes, whose length is a multiple of four.
#[inline(always)]
fn lane_products<const R: usize>(a: &[f64], rows: [&[f64]; R]) -> [f64; R] {
    let a = a.as_chunks::<4>().0;
    let rows = rows.map(|row| &row.as_chunks::<4>().0[..a.len()]);
    let mut sums = [[0.0; 4]; R];
    for (at, a) in a.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            for l in 0..4 {
                sums[l] += a[l] * row[at][l];
            }
        }
    }
    sums.map(|sums| (sums[0] + sums[1]) + (sums[2] + sums[3]))
}

/// Row `i` of a lower triangle.
fn row(triangle: &[f64], i: usize) -> &[f64] {
    &triangle[row_start(i)..row_start(i + 1)]
}

/// Offset of row `i` in a lower triangle.
fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// The orthogonal projection onto the range of a positive semidefinite matrix.
#[derive(Debug, Clone)]
pub(crate) struct RangeProjection {
    n: usize,
    /// All `n × n` entries, row by row.
    entries: Vec<f64>,
}

/// Eigenvalues at or below this share of the largest count as 0.
const NULL_EIGENVALUE: f64 = 1e-10;

impl RangeProjection {
    /// From the lower triangle of the matrix.
    pub(crate) fn new(triangle: &[f64], n: usize) -> Self {
        let (values, vectors) = eigen(triangle, n);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mut entries = identity(n);
        for k in (0..n).filter(|&k| values[k] <= NULL_EIGENVALUE * largest) {
            let v = &vectors[k * n..][..n];
            for (row, vi) in entries.chunks_exact_mut(n).zip(v) {
                row.iter_mut().zip(v).for_each(|(entry, vj)| *entry -= vi * vj);
            }
        }
        Self { n, entries }
    }

    /// The projection of `v`.
    pub(crate) fn apply(&self, v: &[f64]) -> Vec<f64> {
        self.entries.chunks_exact(self.n).map(|row| dot(row, v)).collect()
    }

    /// Entry `(i, j)` of the projection.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.n + j]
    }
}

/// More than any matrix needs: the off-diagonal entries vanish quadratically after a few sweeps.
const MAX_SWEEPS: usize = 40;

/// Eigenvalues and eigenvectors, one after the other, of a positive semidefinite matrix: cyclic Jacobi rotations.
///
/// An off-diagonal entry is rotated away until it is below rounding relative to both of its diagonal entries, so small
/// eigenvalues of a matrix with columns of different sizes are accurate. Below [`NULL_EIGENVALUE`] no accuracy is needed.
fn eigen(triangle: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a: Vec<f64> = (0..n * n).map(|at| symmetric_entry(triangle, at / n, at % n)).collect();
    let mut vectors = identity(n);
    let largest = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (app, aqq, apq) = (a[p * n + p], a[q * n + q], a[p * n + q]);
                let size = (app * aqq).abs().sqrt().max(NULL_EIGENVALUE * largest);
                if apq.abs() <= f64::EPSILON * size {
                    continue;
                }
                rotated = true;
                let tau = (aqq - app) / (2.0 * apq);
                let tan = tau.signum() / (tau.abs() + tau.hypot(1.0));
                rotate(&mut a, n, (p, q), tan);
                rotate(&mut vectors, n, (p, q), tan);
                a[p * n + p] = app - tan * apq;
                a[q * n + q] = aqq + tan * apq;
                a[p * n + q] = 0.0;
                a[q * n + p] = 0.0;
                for k in (0..n).filter(|&k| k != p && k != q) {
                    a[k * n + p] = a[p * n + k];
                    a[k * n + q] = a[q * n + k];
                }
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), vectors)
}

/// Rotates rows `p < q` of an `n × n` matrix.
fn rotate(matrix: &mut [f64], n: usize, (p, q): (usize, usize), tan: f64) {
    let cos = 1.0 / tan.hypot(1.0);
    let sin = tan * cos;
    let (above, below) = matrix.split_at_mut(q * n);
    for (x, y) in above[p * n..][..n].iter_mut().zip(&mut below[..n]) {
        (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
    }
}

/// All `n × n` entries of the identity.
fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|at| f64::from(at / n == at % n)).collect()
}

/// `‖A x − b‖ / ‖b‖` with `A = triangle + shift·I`, or 0 if `b` is 0.
pub(crate) fn relative_residual(triangle: &[f64], shift: f64, x: &[f64], b: &[f64]) -> f64 {
    let n = x.len();
    let mut residual: Vec<f64> = (0..n).map(|i| shift * x[i] - b[i]).collect();
    add_symmetric_product(triangle, x, &mut residual);
    let size = norm(b);
    if size == 0.0 { 0.0 } else { norm(&residual) / size }
}

/// Adds `A v`.
pub(crate) fn add_symmetric_product(triangle: &[f64], v: &[f64], sums: &mut [f64]) {
    for i in 0..v.len() {
        let row = row(triangle, i);
        let mut sum = row[i] * v[i];
        for j in 0..i {
            sum += row[j] * v[j];
            sums[j] += row[j] * v[i];
        }
        sums[i] += sum;
    }
}

/// Adds the lower triangle of `scale · a aᵀ`, row by row.
#[inline(always)]
pub(crate) fn add_outer_product(triangle: &mut [f64], scale: f64, a: &[f64]) {
    let mut rest = triangle;
    for (i, &v) in a.iter().enumerate() {
        let (row, after) = rest.split_at_mut(i + 1);
        let scaled = scale * v;
        row.iter_mut().zip(a).for_each(|(h, u)| *h += scaled * u);
        rest = after;
    }
}

/// Entry `(i, j)` of a symmetric matrix.
pub(crate) fn symmetric_entry(triangle: &[f64], i: usize, j: usize) -> f64 {
    let (row, column) = (i.max(j), i.min(j));
    triangle[row_start(row) + column]
}

/// Euclidean norm.
pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
