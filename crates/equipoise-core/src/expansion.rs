//! Statistics near a model, without a pass over the rows.
//!
//! Around a centre `θ₀`, with `Δ = θ − θ₀` and the third derivatives `T_c` there,
//! `H_c(θ) ≈ H_c + T_c[Δ]`, `g_c(θ) ≈ g_c + H_c Δ + ½ T_c[Δ, Δ]`, and `L_c(θ)` accordingly. What is left out is known
//! beforehand. The loss of a row has `|φ'''| ≤ φ''`, `|φ''''| ≤ φ''` and `|φ''''| ≤ 1/8`; so where no margin moves by more
//! than `δ`, `H_c` is off by at most `½ δ² e^δ` of itself in every direction, and `∇ℓ` by at most `‖a‖ δ³ / 48`. No margin
//! moves by more than `‖a‖ ‖Δ‖`.
//!
//! An outer solver of many small steps, as Adam is once it circles a minimum, finds most of its models in such a
//! neighbourhood.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;
use crate::linalg::{add_symmetric_product, distance};
use crate::statistics::{ClientStatistics, Order, Statistics, triangle};

/// How much a Hessian may be off, as a share of itself.
const HESSIAN_OFF: f64 = 2e-6;

/// How much the inner gradient may be off, as a share of the tolerance of fits.
const GRADIENT_OFF: f64 = 0.1;

/// Longer rows have so many third derivatives that summing them up costs more than it saves.
const LONGEST_ROW: usize = 24;

/// Room for all third derivatives.
const MAX_BYTES: usize = 16 << 20;

/// All that is needed near one model.
pub(crate) struct Expansion {
    centre: Vec<f64>,
    reach: f64,
    there: Statistics,
    /// `∂H_c/∂θ_k`, client after client, `k` after `k`: a lower triangle each.
    turns: Vec<f64>,
}

/// How far from its centre an expansion holds, for fits to this tolerance; `None` where there can be none, or
/// where it would not pay.
pub(crate) fn reach(rows: &dyn ClientStatistics, tolerance: f64) -> Option<f64> {
    let (n, longest) = (rows.n(), rows.longest_row()?);
    let bytes = rows.n_clients() * n * triangle(n) * size_of::<f64>();
    if n > LONGEST_ROW || bytes > MAX_BYTES || !longest.is_finite() || longest == 0.0 {
        return None;
    }
    let margin = (2.0 * HESSIAN_OFF).sqrt().min((48.0 * GRADIENT_OFF * tolerance / longest).cbrt());
    Some(margin / longest)
}

impl Expansion {
    /// One pass, with third derivatives.
    pub(crate) fn around(
        rows: &dyn ClientStatistics,
        centre: Vec<f64>,
        reach: f64,
    ) -> Result<Self, Error> {
        let mut there = rows.evaluate(&centre, Order::Third)?;
        let turns = turns(&std::mem::take(&mut there.thirds), rows.n(), rows.n_clients());
        Ok(Self { centre, reach, there, turns })
    }

    /// Whether the expansion holds at this model.
    pub(crate) fn covers(&self, theta: &[f64]) -> bool {
        distance(theta, &self.centre) <= self.reach
    }

    /// The statistics at a model.
    fn at(&self, theta: &[f64]) -> Statistics {
        let (n, size) = (theta.len(), triangle(theta.len()));
        let delta: Vec<f64> = theta.iter().zip(&self.centre).map(|(t, c)| t - c).collect();
        let n_clients = self.there.losses.len();
        let mut statistics = Statistics::zeros(n_clients, n, Order::Hessian);
        let turns = self.turns.chunks_exact(n * size);
        for (client, turns) in turns.enumerate() {
            let (slope, bend) = (self.there.gradient(client), self.there.hessian(client));
            let turn = &mut statistics.hessians[client * size..(client + 1) * size];
            for (d, part) in delta.iter().zip(turns.chunks_exact(size)) {
                turn.iter_mut().zip(part).for_each(|(sum, t)| *sum += d * t);
            }
            // L + Δ·(g + HΔ/2 + T[Δ,Δ]/6), and g + HΔ + T[Δ,Δ]/2.
            let gradient = &mut statistics.gradients[client * n..(client + 1) * n];
            let mut loss = self.there.losses[client];
            let (mut bent, mut turned) = (vec![0.0; n], vec![0.0; n]);
            add_symmetric_product(bend, &delta, &mut bent);
            add_symmetric_product(turn, &delta, &mut turned);
            for k in 0..n {
                gradient[k] = slope[k] + (bent[k] + 0.5 * turned[k]);
                loss += delta[k] * (slope[k] + (0.5 * bent[k] + turned[k] / 6.0));
            }
            statistics.losses[client] = loss;
            turn.iter_mut().zip(bend).for_each(|(sum, h)| *sum += h);
        }
        statistics
    }
}

/// The matrices `∂H_c/∂θ_k` of all clients, from entries that are there once for each choice of three indices.
fn turns(thirds: &[f64], n: usize, n_clients: usize) -> Vec<f64> {
    let size = triangle(n);
    let mut turns = vec![0.0; n_clients * n * size];
    let mut entries = thirds.iter();
    for turns in turns.chunks_exact_mut(n * size) {
        for i in 0..n {
            for j in 0..=i {
                for k in 0..=j {
                    let Some(&entry) = entries.next() else { return Vec::new() };
                    turns[k * size + triangle(i) + j] = entry;
                    turns[j * size + triangle(i) + k] = entry;
                    turns[i * size + triangle(j) + k] = entry;
                }
            }
        }
    }
    turns
}

/// Rows whose statistics come from an expansion wherever it holds.
pub(crate) struct Nearby<'a> {
    pub(crate) rows: &'a dyn ClientStatistics,
    pub(crate) expansion: Option<&'a Expansion>,
    spared: AtomicUsize,
}

impl<'a> Nearby<'a> {
    pub(crate) fn new(rows: &'a dyn ClientStatistics, expansion: Option<&'a Expansion>) -> Self {
        Self { rows, expansion, spared: AtomicUsize::new(0) }
    }

    /// Passes that were asked for and not made.
    pub(crate) fn spared(&self) -> usize {
        self.spared.load(Ordering::Relaxed)
    }
}

impl ClientStatistics for Nearby<'_> {
    fn n_clients(&self) -> usize {
        self.rows.n_clients()
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn n_rows(&self, client: usize) -> usize {
        self.rows.n_rows(client)
    }

    fn n_rows_total(&self) -> usize {
        self.rows.n_rows_total()
    }

    fn longest_row(&self) -> Option<f64> {
        self.rows.longest_row()
    }

    fn evaluate(&self, theta: &[f64], order: Order) -> Result<Statistics, Error> {
        self.evaluate_each(theta, &vec![Some(order); self.n_clients()])
    }

    fn evaluate_each(&self, theta: &[f64], wanted: &[Option<Order>]) -> Result<Statistics, Error> {
        match self.expansion.filter(|expansion| expansion.covers(theta)) {
            Some(expansion) => {
                self.spared.fetch_add(1, Ordering::Relaxed);
                Ok(expansion.at(theta))
            }
            None => self.rows.evaluate_each(theta, wanted),
        }
    }
}

#[cfg(test)]
mod tests;
