//! A convex quadratic model of `P` around some weights, and its minimiser on the simplex.

use super::active_set::minimise_quadratic;
use crate::logistic::dot;

/// `∇P·d + ½ dᵀ Jᵀ A J d` with `J` of `n × K`, `A = ∇²F`.
pub(super) struct SimplexModel {
    n: usize,
    /// `∇P`.
    gradient: Vec<f64>,
    /// `J`, column by column: `n` numbers per client.
    jacobian: Vec<f64>,
    /// `A J`, in the same order.
    hessian_jacobian: Vec<f64>,
    /// Trace of `Jᵀ A J`, an upper bound of its eigenvalues.
    trace: f64,
}

impl SimplexModel {
    /// From `∇P`, `J` and `A`, a full `n × n` matrix row by row.
    pub(super) fn new(gradient: Vec<f64>, jacobian: Vec<f64>, outer_hessian: &[f64]) -> Self {
        let n = jacobian.len() / gradient.len();
        let mut hessian_jacobian = Vec::with_capacity(jacobian.len());
        for column in jacobian.chunks_exact(n) {
            hessian_jacobian.extend(outer_hessian.chunks_exact(n).map(|row| dot(row, column)));
        }
        let trace = dot(&jacobian, &hessian_jacobian);
        Self { n, gradient, jacobian, hessian_jacobian, trace }
    }

    /// The weights that minimise the model with `damping` times its trace added to its diagonal, and the decrease that
    /// the undamped model predicts there.
    pub(super) fn minimise(&self, weights: &[f64], damping: f64) -> (Vec<f64>, f64) {
        let added = damping * self.trace;
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
        let point = minimise_quadratic(&matrix, &linear, weights.to_vec());
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
