//! Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's method.

use super::symmetric_entry;

/// Sweeps at most; Jacobi's method converges quadratically after a few.
const MAX_SWEEPS: usize = 50;

/// `A = V Λ Vᵀ`.
pub(crate) struct SymmetricEigen {
    /// The eigenvalues, in no particular order.
    pub(crate) values: Vec<f64>,
    /// The eigenvectors: entry `[k][i]` is coordinate `i` of the vector of value `k`.
    pub(crate) vectors: Vec<Vec<f64>>,
}

impl SymmetricEigen {
    /// From the lower triangle of the matrix.
    pub(crate) fn new(triangle: &[f64], n: usize) -> Self {
        let mut a: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| symmetric_entry(triangle, i, j)).collect()).collect();
        let mut vectors: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let total: f64 = triangle.iter().map(|v| v * v).sum();
        for _ in 0..MAX_SWEEPS {
            let off: f64 = (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| a[i][j] * a[i][j])
                .sum();
            if off <= 1e-30 * total {
                break;
            }
            for q in 1..n {
                for p in 0..q {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
        Self { values: (0..n).map(|i| a[i][i]).collect(), vectors }
    }
}

/// Makes entry `(p, q)` 0 by a rotation of the two coordinates.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let apq = a[p][q];
    if apq == 0.0 {
        return;
    }
    let ratio = (a[q][q] - a[p][p]) / (2.0 * apq);
    let tan = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cos = 1.0 / (1.0 + tan * tan).sqrt();
    let sin = tan * cos;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (cos * x - sin * y, sin * x + cos * y);
    }
    turn(a, p, q, cos, sin);
    turn(vectors, p, q, cos, sin);
}

/// Rotates two rows.
fn turn(rows: &mut [Vec<f64>], p: usize, q: usize, cos: f64, sin: f64) {
    let (upper, lower) = rows.split_at_mut(q);
    for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_vectors_give_the_matrix_back() {
        for n in [1, 2, 5, 30] {
            let triangle: Vec<f64> = (0..n * (n + 1) / 2).map(|i| (i as f64 * 1.7).sin()).collect();
            let eigen = SymmetricEigen::new(&triangle, n);
            for i in 0..n {
                for j in 0..n {
                    let pairs = eigen.values.iter().zip(&eigen.vectors);
                    let found: f64 = pairs.clone().map(|(value, v)| value * v[i] * v[j]).sum();
                    assert!((found - symmetric_entry(&triangle, i, j)).abs() < 1e-12);
                    let identity: f64 = pairs.map(|(_, v)| v[i] * v[j]).sum();
                    assert!((identity - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_matrix_of_two_rows_by_hand() {
        let eigen = SymmetricEigen::new(&[2.0, 1.0, 2.0], 2);
        let mut values = eigen.values;
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
        assert_eq!(SymmetricEigen::new(&[0.0; 6], 3).values, [0.0; 3]);
    }
}
