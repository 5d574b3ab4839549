//! The probability of each client to be fair, from the positions of all clients on one axis.
//!
//! Client `c` has the gap `g_c = u_c + m`: its offset `u_c` from the mean of all models is known to an error `s_c`, the
//! gap `m` of the mean model hardly. The client is fair (`g_c ≈ 0`), biased like the others that are biased
//! (`g_c ≈ μ`), or neither. Two unknown numbers, `m` and `μ`, are integrated over a grid:
//!
//! ```text
//! p(m, μ) ∝ p(root, rows | m) p(μ) Π_c [(1−ε) (½ N(g_c; 0, s_c²) + ½ N(g_c; μ, s_c²)) + ε/2]
//! ```
//!
//! `μ = 0` means that no client is biased. The weights are `E[q_c / Σ q]` with `q_c = r_c / s_c²`, where `r_c` is the
//! probability of being fair given `m` and `μ`: fair clients are averaged by precision, biased ones hardly count.

use rayon::prelude::*;

use super::constants::TrustConstants;

/// Step of `m`, half of the smallest error. `μ` has twice this step, so that both share one table of densities.
const STEP: f64 = 0.01;
/// Steps from 0 to the largest gap, 1.
const REACH: isize = 100;
/// The smallest bias looked for: clients closer than two tolerances cannot be told apart.
const SMALLEST_BIAS: f64 = 0.04;
/// Hypotheses of less than this share of the best one's probability are left out.
const NEGLIGIBLE: f64 = 1e-12;

/// A figure with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// What is known about the clients on one axis.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// `u_c`, with the sampling error of the client's own gap.
    pub(super) offsets: Vec<Figure>,
    /// How much each client counts, from 0 to 1.
    pub(super) prior: Vec<f64>,
    /// `m` on the root.
    pub(super) root: Figure,
    /// `m` on the clients' rows.
    pub(super) rows: Figure,
    /// Prior probability that `μ` is positive if it is not 0.
    pub(super) favours: f64,
}

/// What follows for each client.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// On the simplex.
    pub(super) weights: Vec<f64>,
    /// Probability of being fair.
    pub(super) fair: Vec<f64>,
    /// `m`.
    pub(super) mean_gap: Figure,
    /// Probability that some clients are biased.
    pub(super) any_biased: f64,
    /// `E|μ|` if some are.
    pub(super) bias: f64,
}

/// The value of `μ` in steps of `m`, 0 if nobody is biased, and the logarithm of its prior probability.
struct Hypothesis {
    shift: isize,
    log_prior: f64,
}

impl Evidence {
    pub(super) fn posterior(&self, constants: &TrustConstants) -> Posterior {
        let clients: Vec<usize> = (0..self.prior.len()).filter(|&c| self.prior[c] > 0.0).collect();
        let tables: Vec<Densities> = clients
            .iter()
            .map(|&c| Densities::of(self.offsets[c], self.prior[c], constants))
            .collect();
        let level: Vec<f64> = (-REACH..=REACH).map(|m| self.log_level(m, constants)).collect();
        let hypotheses = self.hypotheses(constants);
        let log_p: Vec<Vec<f64>> = hypotheses
            .par_iter()
            .map(|h| {
                let at = (-REACH..=REACH).zip(&level);
                at.map(|(m, log_level)| {
                    let log = tables.iter().map(|t| t.prior * t.total(m, h.shift).ln());
                    h.log_prior + log_level + log.sum::<f64>()
                })
                .collect()
            })
            .collect();
        let top = log_p.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sums = Sums::new(clients.len());
        for (h, log_p) in hypotheses.iter().zip(&log_p) {
            for (m, log_p) in (-REACH..=REACH).zip(log_p) {
                let p = (log_p - top).exp();
                if p > NEGLIGIBLE {
                    sums.add(p, m, h.shift, &tables);
                }
            }
        }
        sums.posterior(&clients, self.prior.len(), constants)
    }

    /// `ln p(root, rows | m)`: the root is right up to its error; the rows too, or they say nothing.
    fn log_level(&self, m: isize, constants: &TrustConstants) -> f64 {
        let m = m as f64 * STEP;
        let z = (m - self.root.value) / self.root.error;
        let honest = constants.rows_honest;
        let rows = honest * normal(m - self.rows.value, self.rows.error) + (1.0 - honest) * 0.5;
        rows.ln() - 0.5 * z * z
    }

    fn hypotheses(&self, constants: &TrustConstants) -> Vec<Hypothesis> {
        let smallest = (SMALLEST_BIAS / STEP).round() as isize;
        let sizes: Vec<isize> = (smallest..=REACH).step_by(2).collect();
        let share = (1.0 - constants.none_biased) / sizes.len() as f64;
        let none = Hypothesis { shift: 0, log_prior: constants.none_biased.ln() };
        let signed = sizes.iter().flat_map(|&size| {
            let of = |shift, p: f64| Hypothesis { shift, log_prior: (p * share).ln() };
            [of(size, self.favours), of(-size, 1.0 - self.favours)]
        });
        std::iter::once(none).chain(signed).collect()
    }
}

/// `N(g; 0, s²)` of one client at every `m − μ` on the grid.
struct Densities {
    prior: f64,
    precision: f64,
    inlier: f64,
    outlier: f64,
    table: Vec<f64>,
}

impl Densities {
    fn of(offset: Figure, prior: f64, constants: &TrustConstants) -> Self {
        let variance = offset.error.powi(2) + constants.tolerance.powi(2);
        let error = variance.sqrt();
        let at = |i: isize| normal(offset.value + i as f64 * STEP, error);
        Self {
            prior,
            precision: 1.0 / variance,
            inlier: 1.0 - constants.outliers,
            outlier: 0.5 * constants.outliers,
            table: (-2 * REACH..=2 * REACH).map(at).collect(),
        }
    }

    fn at(&self, i: isize) -> f64 {
        self.table[(i + 2 * REACH) as usize]
    }

    /// The density of the client's position.
    fn total(&self, m: isize, shift: isize) -> f64 {
        let kinds = if shift == 0 { self.at(m) } else { 0.5 * (self.at(m) + self.at(m - shift)) };
        self.inlier * kinds + self.outlier
    }

    /// The probability that the client is fair.
    fn fair(&self, m: isize, shift: isize) -> f64 {
        let half = if shift == 0 { 1.0 } else { 0.5 };
        self.inlier * half * self.at(m) / self.total(m, shift)
    }
}

/// Sums over the grid, weighted by probability.
struct Sums {
    mass: f64,
    biased: f64,
    bias: f64,
    gap: f64,
    gap_squared: f64,
    weights: Vec<f64>,
    fair: Vec<f64>,
}

impl Sums {
    fn new(n: usize) -> Self {
        let (weights, fair) = (vec![0.0; n], vec![0.0; n]);
        Self { mass: 0.0, biased: 0.0, bias: 0.0, gap: 0.0, gap_squared: 0.0, weights, fair }
    }

    fn add(&mut self, p: f64, m: isize, shift: isize, clients: &[Densities]) {
        let gap = m as f64 * STEP;
        self.mass += p;
        self.gap += p * gap;
        self.gap_squared += p * gap * gap;
        if shift != 0 {
            self.biased += p;
            self.bias += p * (shift.abs() as f64 * STEP);
        }
        let fair: Vec<f64> = clients.iter().map(|c| c.fair(m, shift)).collect();
        let total: f64 = fair.iter().zip(clients).map(|(r, c)| r * c.precision).sum();
        for (i, (r, client)) in fair.iter().zip(clients).enumerate() {
            self.fair[i] += p * r;
            if total > 0.0 {
                self.weights[i] += p * r * client.precision / total;
            }
        }
    }

    fn posterior(
        self,
        clients: &[usize],
        n_clients: usize,
        constants: &TrustConstants,
    ) -> Posterior {
        let (mut weights, mut fair) = (vec![0.0; n_clients], vec![0.0; n_clients]);
        let sum: f64 = self.weights.iter().sum();
        for (i, &client) in clients.iter().enumerate() {
            weights[client] = self.weights[i] / sum;
            fair[client] = self.fair[i] / self.mass;
        }
        let gap = self.gap / self.mass;
        let variance = (self.gap_squared / self.mass - gap * gap).max(0.0);
        let error = (variance + constants.tolerance.powi(2)).sqrt();
        Posterior {
            weights,
            fair,
            mean_gap: Figure { value: gap, error },
            any_biased: self.biased / self.mass,
            bias: if self.biased > 0.0 { self.bias / self.biased } else { 0.0 },
        }
    }
}

/// The density of a normal distribution at this distance from its mean.
fn normal(distance: f64, error: f64) -> f64 {
    let z = distance / error;
    (-0.5 * z * z).exp() / (error * std::f64::consts::TAU.sqrt())
}

#[cfg(test)]
mod tests;
