//! A convex quadratic model of `P` around some weights, and its minimiser on the simplex.

use super::active_set::minimise_quadratic;
use super::interior_point::LowRankQuadratic;
use crate::error::Error;
use crate::kernel::Vectors;
use crate::linalg::Cholesky;
use crate::logistic::dot;

/// Number of clients up to which the full `K × K` matrix is formed.
const FEW_CLIENTS: usize = 64;

/// `∇P·d + ½ dᵀ Jᵀ A J d` with `J` of `n × K`, `A = ∇²F`.
pub(super) struct SimplexModel {
    n: usize,
    /// `∇P`.
    gradient: Vec<f64>,
    /// `J`, column by column: `n` numbers per client.
    jacobian: Vec<f64>,
    /// `A J`, in the same order.
    hessian_jacobian: Vec<f64>,
    /// `Lᵀ J` with `A = L Lᵀ`, for more than `FEW_CLIENTS`.
    factor: Option<Vectors>,
    /// Trace of `Jᵀ A J`, an upper bound of its eigenvalues.
    trace: f64,
}

impl SimplexModel {
    /// From `∇P`, `J` and `A`, a full `n × n` matrix row by row.
    pub(super) fn new(
        gradient: Vec<f64>,
        jacobian: Vec<f64>,
        outer_hessian: &[f64],
    ) -> Result<Self, Error> {
        let n = jacobian.len() / gradient.len();
        let mut hessian_jacobian = Vec::with_capacity(jacobian.len());
        for column in jacobian.chunks_exact(n) {
            hessian_jacobian.extend(outer_hessian.chunks_exact(n).map(|row| dot(row, column)));
        }
        let trace = dot(&jacobian, &hessian_jacobian);
        let factor = if gradient.len() <= FEW_CLIENTS {
            None
        } else {
            Some(Vectors::pack(&low_rank_factor(&jacobian, outer_hessian, n)?, n))
        };
        Ok(Self { n, gradient, jacobian, hessian_jacobian, factor, trace })
    }

    /// The weights that minimise the model with `damping` times its trace added to its diagonal, and the decrease that
    /// the undamped model predicts there.
    pub(super) fn minimise(&self, weights: &[f64], damping: f64) -> (Vec<f64>, f64) {
        let added = damping * self.trace;
        let point = if let Some(factor) = &self.factor {
            let gradient = &self.gradient[..];
            LowRankQuadratic { factor, gradient, diagonal: added, weights }.minimise()
        } else {
            let mut matrix = Vec::with_capacity(weights.len() * weights.len());
            for (i, column) in self.jacobian.chunks_exact(self.n).enumerate() {
                matrix.extend(self.hessian_jacobian.chunks_exact(self.n).map(|c| dot(column, c)));
                matrix[i * weights.len() + i] += added;
            }
            // The gradient of the damped model at w = 0.
            let d: Vec<f64> = weights.iter().map(|w| 0.0 - w).collect();
            let product = self.hessian_product(&d);
            let linear: Vec<f64> =
                (0..d.len()).map(|c| self.gradient[c] + product[c] + added * d[c]).collect();
            minimise_quadratic(&matrix, &linear, weights.to_vec())
        };
        let d: Vec<f64> = point.iter().zip(weights).map(|(v, w)| v - w).collect();
        let predicted_decrease =
            -dot(&self.gradient, &d) - 0.5 * dot(&d, &self.hessian_product(&d));
        (point, predicted_decrease)
    }

    /// `Jᵀ A J d`.
    fn hessian_product(&self, d: &[f64]) -> Vec<f64> {
        let mut change = vec![0.0; self.n];
        for (column, &d) in self.jacobian.chunks_exact(self.n).zip(d) {
            if d != 0.0 {
                change.iter_mut().zip(column).for_each(|(c, j)| *c += d * j);
            }
        }
        self.hessian_jacobian.chunks_exact(self.n).map(|column| dot(column, &change)).collect()
    }
}

/// `Lᵀ J` with `A = L Lᵀ`.
fn low_rank_factor(jacobian: &[f64], outer_hessian: &[f64], n: usize) -> Result<Vec<f64>, Error> {
    let triangle: Vec<f64> =
        (0..n).flat_map(|i| outer_hessian[i * n..=i * n + i].to_vec()).collect();
    let lower = Cholesky::new(&triangle, n, 0.0)?.lower();
    let mut factor = vec![0.0; jacobian.len()];
    for (column, into) in jacobian.chunks_exact(n).zip(factor.chunks_exact_mut(n)) {
        for (row, &j) in lower.iter().zip(column) {
            into.iter_mut().zip(row).for_each(|(f, l)| *f += l * j);
        }
    }
    Ok(factor)
}
