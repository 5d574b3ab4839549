//! A convex quadratic model of `P` around some weights, and its minimiser on the simplex.

use super::simplex_interior::LowRankQuadratic;
use super::simplex_quadratic::minimise_quadratic;
use crate::error::Error;
use crate::kernel::Vectors;
use crate::linalg::Cholesky;
use crate::logistic::dot;

/// Clients up to which the matrix of all pairs of them is set up.
const FEW_CLIENTS: usize = 64;

/// `∇P·d + ½ dᵀ Jᵀ A J d` with `J` of `n × K`, `A = ∇²F`.
pub(crate) struct SimplexModel {
    n: usize,
    /// `∇P`.
    gradient: Vec<f64>,
    /// `J`, client after client, `n` numbers each.
    jacobian: Vec<f64>,
    /// `A J`, in the same order.
    curved: Vec<f64>,
    /// `Lᵀ J` with `A = L Lᵀ`; `None` for few clients, which do not need it.
    factor: Option<Vectors>,
    /// Trace of `Jᵀ A J`: no eigenvalue is larger.
    trace: f64,
}

impl SimplexModel {
    /// From `∇P`, `J` and `A` (a full symmetric `n × n` matrix, row after row).
    pub(crate) fn new(
        gradient: Vec<f64>,
        jacobian: Vec<f64>,
        outer_hessian: &[f64],
    ) -> Result<Self, Error> {
        let n = jacobian.len() / gradient.len();
        let mut curved = Vec::with_capacity(jacobian.len());
        for column in jacobian.chunks_exact(n) {
            curved.extend(outer_hessian.chunks_exact(n).map(|row| dot(row, column)));
        }
        let trace = dot(&jacobian, &curved);
        let factor = if gradient.len() <= FEW_CLIENTS {
            None
        } else {
            Some(Vectors::pack(&transformed(&jacobian, outer_hessian, n)?, n))
        };
        Ok(Self { n, gradient, jacobian, curved, factor, trace })
    }

    /// The weights that minimise the model with `damping` times its trace added to its diagonal, and the
    /// decrease that the undamped model promises there.
    pub(crate) fn minimise(&self, weights: &[f64], damping: f64) -> (Vec<f64>, f64) {
        let added = damping * self.trace;
        let point = if let Some(factor) = &self.factor {
            let gradient = &self.gradient[..];
            LowRankQuadratic { factor, gradient, diagonal: added, weights }.minimise()
        } else {
            let mut matrix = Vec::with_capacity(weights.len() * weights.len());
            for (i, column) in self.jacobian.chunks_exact(self.n).enumerate() {
                let row = self.curved.chunks_exact(self.n).map(|curved| dot(column, curved));
                matrix.extend(row);
                matrix[i * weights.len() + i] += added;
            }
            let zero = vec![0.0; weights.len()];
            let linear = self.slope(weights, &zero, added);
            minimise_quadratic(&matrix, &linear, weights.to_vec())
        };
        let promise = self.promise(weights, &point);
        (point, promise)
    }

    /// The slope of the damped model at `v`.
    fn slope(&self, weights: &[f64], v: &[f64], added: f64) -> Vec<f64> {
        let d: Vec<f64> = v.iter().zip(weights).map(|(v, w)| v - w).collect();
        let bent = self.bend(&d);
        (0..d.len()).map(|c| self.gradient[c] + bent[c] + added * d[c]).collect()
    }

    /// Decrease of the undamped model from `weights` to `point`.
    fn promise(&self, weights: &[f64], point: &[f64]) -> f64 {
        let d: Vec<f64> = point.iter().zip(weights).map(|(v, w)| v - w).collect();
        -dot(&self.gradient, &d) - 0.5 * dot(&d, &self.bend(&d))
    }

    /// `Jᵀ A J d`.
    fn bend(&self, d: &[f64]) -> Vec<f64> {
        let mut moved = vec![0.0; self.n];
        for (column, &by) in self.jacobian.chunks_exact(self.n).zip(d) {
            if by != 0.0 {
                moved.iter_mut().zip(column).for_each(|(m, j)| *m += by * j);
            }
        }
        self.curved.chunks_exact(self.n).map(|column| dot(column, &moved)).collect()
    }
}

/// `Lᵀ J` with `A = L Lᵀ`.
fn transformed(jacobian: &[f64], outer_hessian: &[f64], n: usize) -> Result<Vec<f64>, Error> {
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
