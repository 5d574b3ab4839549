//! Small dense linear algebra: a Cholesky factor of a symmetric matrix given as its lower triangle, row by
//! row, and projections. The factor is written out here: at the sizes that occur a library spends more time on
//! its way to the arithmetic than in it, and its bits depend on the processor.

use faer::{Mat, Side};

use crate::error::Error;
use crate::logistic::dot;

/// `A = L Lᵀ`, ready to solve with as often as needed.
pub(crate) struct Cholesky {
    n: usize,
    /// `L`, row by row, each up to its diagonal, which holds the inverse.
    lower: Vec<f64>,
    /// What had to be added to the diagonal before the matrix could be factored; 0 as a rule.
    pub(crate) added_to_diagonal: f64,
}

impl Cholesky {
    /// Factors `A + shift·I`. Where rounding has made the matrix indefinite, a multiple of the identity
    /// is added, from 1e-14 of its largest diagonal entry upwards, and told in `added_to_diagonal`.
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

    /// `L`, row by row, each up to its diagonal.
    pub(crate) fn lower(&self) -> Vec<Vec<f64>> {
        let row = |i: usize| {
            let mut row = self.lower[row_start(i)..row_start(i + 1)].to_vec();
            row[i] = 1.0 / row[i];
            row
        };
        (0..self.n).map(row).collect()
    }

    /// `A⁻¹ b`.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in 0..self.n {
            let row = &self.lower[row_start(i)..row_start(i + 1)];
            x[i] = (x[i] - dot_of_four(&row[..i], &x[..i])) * row[i];
        }
        for i in (0..self.n).rev() {
            let row = &self.lower[row_start(i)..row_start(i + 1)];
            let last = x[i] * row[i];
            x[i] = last;
            x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= last * l);
        }
        x
    }
}

/// Puts the factor of `A + shift·I` into `lower`; fails with the number of a pivot that is not positive.
fn factor(triangle: &[f64], n: usize, shift: f64, lower: &mut [f64]) -> Result<(), usize> {
    for i in 0..n {
        let (above, own) = lower.split_at_mut(row_start(i));
        let entries = &triangle[row_start(i)..row_start(i + 1)];
        for j in 0..i {
            let row = &above[row_start(j)..row_start(j + 1)];
            own[j] = (entries[j] - dot_of_four(&own[..j], &row[..j])) * row[j];
        }
        let pivot = entries[i] + shift - dot_of_four(&own[..i], &own[..i]);
        // A pivot that is not a number is not positive either.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(i);
        }
        own[i] = 1.0 / pivot.sqrt();
    }
    Ok(())
}

/// `a·b` with four sums side by side, which a processor can add at once.
fn dot_of_four(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for l in 0..4 {
            sums[l] += a[l] * b[l];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + dot(a_rest, b_rest)
}

/// Where row `i` begins in a lower triangle.
fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// The orthogonal projection onto the range of a positive semidefinite matrix.
#[derive(Debug, Clone)]
pub(crate) struct RangeProjection {
    n: usize,
    /// All `n × n` entries, row after row.
    entries: Vec<f64>,
}

/// Eigenvalues below this share of the largest count as 0.
const NULL_EIGENVALUE: f64 = 1e-10;

impl RangeProjection {
    /// From the lower triangle of the matrix.
    pub(crate) fn new(triangle: &[f64], n: usize) -> Result<Self, Error> {
        let matrix = Mat::from_fn(n, n, |i, j| symmetric_entry(triangle, i, j));
        let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| Error::NoEigenvalues)?;
        let (vectors, values) = (eigen.U(), eigen.S().column_vector());
        let largest = (0..n).map(|k| values[k]).fold(0.0, f64::max);
        let mut entries = vec![0.0; n * n];
        for k in (0..n).filter(|&k| values[k] > NULL_EIGENVALUE * largest) {
            for i in 0..n {
                for j in 0..n {
                    entries[i * n + j] += vectors[(i, k)] * vectors[(j, k)];
                }
            }
        }
        Ok(Self { n, entries })
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

/// `‖A x − b‖ / ‖b‖` with `A = triangle + shift·I`: how well a solve went. 0 where `b` is 0.
pub(crate) fn relative_residual(triangle: &[f64], shift: f64, x: &[f64], b: &[f64]) -> f64 {
    let n = x.len();
    let mut residual: Vec<f64> = (0..n).map(|i| shift * x[i] - b[i]).collect();
    add_symmetric_product(triangle, x, &mut residual);
    let size = norm(b);
    if size == 0.0 { 0.0 } else { norm(&residual) / size }
}

/// Adds `A v`, for a symmetric matrix given as its lower triangle, row by row.
pub(crate) fn add_symmetric_product(triangle: &[f64], v: &[f64], sums: &mut [f64]) {
    let mut start = 0;
    for i in 0..v.len() {
        let row = &triangle[start..=start + i];
        let mut sum = row[i] * v[i];
        for j in 0..i {
            sum += row[j] * v[j];
            sums[j] += row[j] * v[i];
        }
        sums[i] += sum;
        start += i + 1;
    }
}

/// Entry `(i, j)` of a symmetric matrix given as its lower triangle, row by row.
pub(crate) fn symmetric_entry(triangle: &[f64], i: usize, j: usize) -> f64 {
    let (row, column) = (i.max(j), i.min(j));
    triangle[row * (row + 1) / 2 + column]
}

/// Euclidean norm.
pub(crate) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn solves_a_system_with_a_known_solution() {
        // [[4, 2, 0], [2, 5, 3], [0, 3, 6]] with 1 added to the diagonal; x = (1, -2, 3).
        let triangle = [3.0, 2.0, 4.0, 0.0, 3.0, 5.0];
        let b = [4.0 - 4.0, 2.0 - 10.0 + 9.0, -6.0 + 18.0];
        let cholesky = Cholesky::new(&triangle, 3, 1.0).unwrap();
        let x = cholesky.solve(&b);
        for (found, expected) in x.iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-13);
        }
        assert_eq!(cholesky.added_to_diagonal, 0.0);
        assert!(relative_residual(&triangle, 1.0, &x, &b) < 1e-14);
        assert!(relative_residual(&triangle, 1.0, &[1.0, -2.0, 3.1], &b) > 1e-2);
    }

    #[test]
    fn a_projection_keeps_the_range_and_drops_the_rest() {
        // The range is the plane orthogonal to (1, 1, 1).
        let triangle = [2.0, -1.0, 2.0, -1.0, -1.0, 2.0];
        let projection = RangeProjection::new(&triangle, 3).unwrap();
        let close = |found: Vec<f64>, expected: [f64; 3]| {
            found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-14)
        };
        assert!(close(projection.apply(&[1.0, 1.0, 1.0]), [0.0; 3]));
        assert!(close(projection.apply(&[1.0, -1.0, 0.0]), [1.0, -1.0, 0.0]));
        assert!(close(projection.apply(&[3.0, 0.0, 0.0]), [2.0, -1.0, -1.0]));
        assert!((projection.entry(0, 0) - 2.0 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn a_singular_matrix_is_factored_with_a_counted_addition() {
        let cholesky = Cholesky::new(&[1.0, 1.0, 1.0], 2, 0.0).unwrap();
        assert!(cholesky.added_to_diagonal > 0.0 && cholesky.added_to_diagonal < 1e-6);
    }

    #[test]
    fn an_indefinite_matrix_is_refused_with_its_pivot() {
        let Err(error) = Cholesky::new(&[1.0, 0.0, -1.0], 2, 0.0) else { panic!("factored") };
        assert!(matches!(error, Error::NotPositiveDefinite { index: 1 }), "{error}");
    }
}
