//! A convex quadratic model of `P` around some weights, and its minimiser on the simplex.

use crate::logistic::dot;
use crate::simplex::{frank_wolfe_gap, project_onto_simplex};

/// Steps of the accelerated method before the best point so far is good enough.
const MAX_STEPS: usize = 5000;
/// The model is solved when no direction promises more than this share of what was gained already.
const SHARE: f64 = 1e-3;

/// `∇P·d + ½ dᵀ Jᵀ A J d` with `J` of `n × K`, `A = ∇²F`.
pub(crate) struct SimplexModel {
    n: usize,
    /// `∇P`.
    gradient: Vec<f64>,
    /// `J`, client after client, `n` numbers each.
    jacobian: Vec<f64>,
    /// `A J`, in the same order.
    curved: Vec<f64>,
    /// Trace of `Jᵀ A J`: no eigenvalue is larger.
    trace: f64,
}

impl SimplexModel {
    /// From `∇P`, `J` and `A` (a full symmetric `n × n` matrix, row after row).
    pub(crate) fn new(gradient: Vec<f64>, jacobian: Vec<f64>, outer_hessian: &[f64]) -> Self {
        let n = jacobian.len() / gradient.len();
        let mut curved = Vec::with_capacity(jacobian.len());
        for column in jacobian.chunks_exact(n) {
            curved.extend(outer_hessian.chunks_exact(n).map(|row| dot(row, column)));
        }
        let trace = dot(&jacobian, &curved);
        Self { n, gradient, jacobian, curved, trace }
    }

    /// The weights that minimise the model with `damping` times its trace added to its diagonal, and the
    /// decrease that the undamped model promises there.
    ///
    /// Accelerated projected gradient with restarts: the model is tiny, and needs no data.
    pub(crate) fn minimise(&self, weights: &[f64], damping: f64) -> (Vec<f64>, f64) {
        let added = damping * self.trace;
        let step = 1.0 / (self.trace + added).max(f64::MIN_POSITIVE);
        let slope_at = |v: &[f64]| -> Vec<f64> {
            let d: Vec<f64> = v.iter().zip(weights).map(|(v, w)| v - w).collect();
            let bent = self.bend(&d);
            (0..d.len()).map(|c| self.gradient[c] + bent[c] + added * d[c]).collect()
        };
        let mut point = weights.to_vec();
        let mut ahead = point.clone();
        let mut momentum: f64 = 1.0;
        for round in 0..MAX_STEPS {
            let slope = slope_at(&ahead);
            let moved: Vec<f64> = ahead.iter().zip(&slope).map(|(v, s)| v - step * s).collect();
            let next = project_onto_simplex(&moved);
            // Restart when the momentum points uphill.
            let uphill: f64 =
                (0..next.len()).map(|c| (ahead[c] - next[c]) * (next[c] - point[c])).sum();
            let grown = if uphill > 0.0 {
                1.0
            } else {
                0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt())
            };
            let push = if uphill > 0.0 { 0.0 } else { (momentum - 1.0) / grown };
            ahead = next.iter().zip(&point).map(|(n, p)| n + push * (n - p)).collect();
            point = next;
            momentum = grown;
            if round % 20 == 19 {
                let left = frank_wolfe_gap(&point, &slope_at(&point));
                if left <= SHARE * self.promise(weights, &point) {
                    break;
                }
            }
        }
        let promise = self.promise(weights, &point);
        (point, promise)
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
