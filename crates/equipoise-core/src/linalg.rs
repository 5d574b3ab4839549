//! Dense linear algebra on symmetric matrices, given as the lower triangle row by row: Cholesky factors, eigenvalues
//! and the projection onto a range. Plain loops, so that the result is the same on every processor.

mod symmetric_eigen;

use crate::error::Error;
use crate::logistic::dot;

pub(crate) use symmetric_eigen::SymmetricEigen;

/// The Cholesky factor of `A = L Lᵀ`.
pub(crate) struct Cholesky {
    n: usize,
    /// `L`, row by row, with each diagonal entry replaced by its inverse.
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

/// `a·b` for each row `b`, cut to the length of `a`, which must be a multiple of four.
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

/// Pivots at or below this share of the largest diagonal entry count as 0.
const NULL_PIVOT: f64 = 1e-10;

impl RangeProjection {
    /// From the lower triangle of the matrix.
    pub(crate) fn new(triangle: &[f64], n: usize) -> Self {
        let mut entries: Vec<f64> = (0..n * n).map(|at| f64::from(at / n == at % n)).collect();
        for v in null_space(triangle, n) {
            for (row, vi) in entries.chunks_exact_mut(n).zip(&v) {
                row.iter_mut().zip(&v).for_each(|(entry, vj)| *entry -= vi * vj);
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

/// An orthonormal basis of the null space of a positive semidefinite matrix, by a Cholesky factorisation with diagonal
/// pivoting: `A = [L₁; L₂] [L₁; L₂]ᵀ` up to the order of the rows, and `L₁ᵀ x₁ = −L₂ᵀ x₂` for every null vector.
fn null_space(triangle: &[f64], n: usize) -> Vec<Vec<f64>> {
    let mut diagonal: Vec<f64> = (0..n).map(|i| symmetric_entry(triangle, i, i)).collect();
    let threshold = NULL_PIVOT * diagonal.iter().copied().fold(0.0, f64::max);
    let mut factor = vec![vec![0.0; n]; n];
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let mut next = rank;
        for k in rank..n {
            if diagonal[order[k]] > diagonal[order[next]] {
                next = k;
            }
        }
        if diagonal[order[next]] <= threshold {
            break;
        }
        order.swap(rank, next);
        let pivot = order[rank];
        let pivot_row = factor[pivot][..rank].to_vec();
        let root = diagonal[pivot].sqrt();
        factor[pivot][rank] = root;
        for &i in &order[rank + 1..] {
            let row = &mut factor[i];
            let rest = symmetric_entry(triangle, i, pivot) - product(&row[..rank], &pivot_row);
            row[rank] = rest / root;
            diagonal[i] -= row[rank] * row[rank];
        }
        rank += 1;
    }
    let (range, null) = order.split_at(rank);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(null.len());
    for &free in null {
        let mut right: Vec<f64> = factor[free][..rank].iter().map(|l| -l).collect();
        let mut v = vec![0.0; n];
        v[free] = 1.0;
        for (k, &i) in range.iter().enumerate().rev() {
            v[i] = right[k] / factor[i][k];
            right[..k].iter_mut().zip(&factor[i]).for_each(|(r, l)| *r -= v[i] * l);
        }
        // Orthogonalise twice, because the first time leaves a residual from cancellation.
        for other in basis.iter().chain(&basis) {
            let share = dot(&v, other);
            v.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
        }
        let length = norm(&v);
        v.iter_mut().for_each(|v| *v /= length);
        basis.push(v);
    }
    basis
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
