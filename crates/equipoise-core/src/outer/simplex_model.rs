//! A convex quadratic model of `P` around some weights, and its minimiser on the simplex.

use super::simplex_quadratic::minimise_quadratic;
use crate::logistic::dot;
use crate::simplex::frank_wolfe_gap;

/// The model of many clients is solved when no direction promises more than this share of what was gained already.
const SHARE: f64 = 1e-3;

/// Clients up to which the model is minimised over all of them at once. Beyond, those that can enter are
/// looked for: with `n` entries in a model, some `n + 1` clients are enough.
const FEW_CLIENTS: usize = 64;
/// Clients that enter together, and how often.
const ENTER_AT_ONCE: usize = 8;
const MOST_ENTRIES: usize = 40;

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
    pub(crate) fn minimise(&self, weights: &[f64], damping: f64) -> (Vec<f64>, f64) {
        let added = damping * self.trace;
        let point = if weights.len() <= FEW_CLIENTS {
            let mut matrix = Vec::with_capacity(weights.len() * weights.len());
            for (i, column) in self.jacobian.chunks_exact(self.n).enumerate() {
                let row = self.curved.chunks_exact(self.n).map(|curved| dot(column, curved));
                matrix.extend(row);
                matrix[i * weights.len() + i] += added;
            }
            let zero = vec![0.0; weights.len()];
            let linear = self.slope(weights, &zero, added);
            minimise_quadratic(&matrix, &linear, weights.to_vec())
        } else {
            self.minimise_by_entries(weights, added)
        };
        let promise = self.promise(weights, &point);
        (point, promise)
    }

    /// For many clients: the point is a mixture of the weights and of a few clients, to which those whose slope
    /// is lowest are added until none promises more.
    fn minimise_by_entries(&self, weights: &[f64], added: f64) -> Vec<f64> {
        let mut entered: Vec<usize> = Vec::new();
        // Shares of the weights as they are, then of each client that entered.
        let mut shares = vec![1.0];
        let mut point = weights.to_vec();
        for _ in 0..MOST_ENTRIES {
            let slope = self.slope(weights, &point, added);
            let gap = frank_wolfe_gap(&point, &slope);
            if gap.is_nan() || gap <= SHARE * self.promise(weights, &point).max(0.0) {
                break;
            }
            let here = dot(&slope, &point);
            let mut lowest: Vec<usize> =
                (0..slope.len()).filter(|c| slope[*c] < here && !entered.contains(c)).collect();
            lowest.sort_by(|&a, &b| slope[a].total_cmp(&slope[b]));
            entered.extend(lowest.iter().take(ENTER_AT_ONCE));
            shares.resize(entered.len() + 1, 0.0);
            let (gradient, matrix) = self.mixed(weights, &entered, added);
            shares = minimise_quadratic(&matrix, &gradient, shares);
            point = weights.iter().map(|w| shares[0] * w).collect();
            entered.iter().zip(&shares[1..]).for_each(|(&c, z)| point[c] += z);
        }
        point
    }

    /// The model in terms of shares: `e_c − w` is the direction of client `c`, 0 that of the weights.
    fn mixed(&self, weights: &[f64], entered: &[usize], added: f64) -> (Vec<f64>, Vec<f64>) {
        let (n, size) = (self.n, entered.len() + 1);
        let own = |values: &[f64], c: usize| values[c * n..(c + 1) * n].to_vec();
        let mean = |values: &[f64]| {
            let mut sum = vec![0.0; n];
            for (column, w) in values.chunks_exact(n).zip(weights) {
                sum.iter_mut().zip(column).for_each(|(s, v)| *s += w * v);
            }
            sum
        };
        let away = |values: &[f64]| -> Vec<Vec<f64>> {
            let mean = mean(values);
            let from_mean = |c: &usize| -> Vec<f64> {
                own(values, *c).iter().zip(&mean).map(|(v, m)| v - m).collect()
            };
            entered.iter().map(from_mean).collect()
        };
        let (moves, bends) = (away(&self.jacobian), away(&self.curved));
        let (here, square) = (dot(&self.gradient, weights), dot(weights, weights));
        let mut gradient = vec![0.0; size];
        let mut matrix = vec![0.0; size * size];
        for (i, &a) in entered.iter().enumerate() {
            gradient[i + 1] = self.gradient[a] - here;
            for (j, &b) in entered.iter().enumerate() {
                let same = if a == b { 1.0 } else { 0.0 };
                let product = same - weights[a] - weights[b] + square;
                matrix[(i + 1) * size + j + 1] = dot(&moves[i], &bends[j]) + added * product;
            }
        }
        (gradient, matrix)
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
