//! The weights: as close to the prior as the expected gap allows.
//!
//! ```text
//! f(w) = KL(w ‖ π) + Σ_j p_j E[G_j]² / 2,      E[G_j] = κ_j G_rows(θ) + (1 − κ_j) G_root(θ) + b_j,   θ = Σ_c w_c θ̃_c
//! ```
//!
//! Decisions are `h = σ(s r)` with `s = 5 / sd(z)`, `z` the scores of the trusted rows, so a gap depends on
//! `θ` directly and through `sd(z)`; both are part of the gradient.

use std::ops::Range;

use rayon::prelude::*;

use super::measure::{Contrast, WeightedRows, add_scaled, decision_slope, difference, mean};
use crate::comparison::scores;
use crate::logistic::{dot, sigmoid};

const MAX_STEPS: usize = 200;
/// The largest change of a weight at which the descent stops.
const TOLERANCE: f64 = 1e-6;
const CHUNK_ROWS: usize = 1024;

/// One expected gap.
pub(super) struct Target {
    pub(super) contrast: Contrast,
    /// `κ_j`: how much the clients' rows count.
    pub(super) rows_share: f64,
    /// `b_j`: makes `E[G_j]` the level at the mean of the useful clients.
    pub(super) offset: f64,
    /// `p_j`: what a gap costs.
    pub(super) precision: f64,
}

/// `f` and what it needs.
pub(super) struct Objective<'a> {
    pub(super) models: &'a [Vec<f64>],
    pub(super) prior: &'a [f64],
    pub(super) root: &'a WeightedRows<'a>,
    pub(super) rows: &'a WeightedRows<'a>,
    pub(super) targets: Vec<Target>,
}

impl Objective<'_> {
    /// `θ = Σ_c w_c θ̃_c`.
    pub(super) fn model(&self, weights: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.root.rows.layout().n()];
        self.models.iter().zip(weights).for_each(|(own, w)| add_scaled(&mut theta, *w, own));
        theta
    }

    /// `E[G_j]` of a model.
    pub(super) fn expected_gaps(&self, theta: &[f64]) -> Vec<f64> {
        let slope = decision_slope(&scores(theta, self.root.rows));
        let [root, rows] = [self.root, self.rows].map(|rows| DecisionSums::of(rows, theta, slope));
        self.targets.iter().map(|target| self.expected_gap(target, &root, &rows)).collect()
    }

    fn expected_gap(&self, of: &Target, root: &DecisionSums, rows: &DecisionSums) -> f64 {
        let on_root = self.root.gap(&of.contrast, &root.decisions);
        let on_rows = self.rows.gap(&of.contrast, &rows.decisions);
        of.rows_share * on_rows + (1.0 - of.rows_share) * on_root + of.offset
    }

    /// `f` and its gradient.
    pub(super) fn evaluate(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let logs: Vec<f64> =
            weights.iter().zip(self.prior).map(|(w, p)| (w.max(1e-300) / p).ln()).collect();
        let (penalty, by_theta) = self.penalty(&self.model(weights));
        let slopes =
            self.models.iter().zip(&logs).map(|(own, log)| log + 1.0 + dot(own, &by_theta));
        (dot(weights, &logs) + penalty, slopes.collect())
    }

    /// `Σ_j p_j E[G_j]² / 2` and its gradient in `θ`.
    fn penalty(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let scores = scores(theta, self.root.rows);
        let slope = decision_slope(&scores);
        let [root, rows] = [self.root, self.rows].map(|rows| DecisionSums::of(rows, theta, slope));
        let (mut value, mut gradient, mut by_slope) = (0.0, vec![0.0; theta.len()], 0.0);
        for target in &self.targets {
            let gap = self.expected_gap(target, &root, &rows);
            value += 0.5 * target.precision * gap * gap;
            for (sums, of, share) in
                [(&rows, self.rows, target.rows_share), (&root, self.root, 1.0 - target.rows_share)]
            {
                let factor = target.precision * gap * share;
                by_slope += sums.add_gradient(of, &target.contrast, factor * slope, &mut gradient);
            }
        }
        add_scaled(&mut gradient, -by_slope, &self.spread_gradient(&scores));
        (value, gradient)
    }

    /// `∂ ln sd(z) / ∂θ`: decisions depend on `z / sd(z)`.
    fn spread_gradient(&self, scores: &[f64]) -> Vec<f64> {
        let (rows, middle) = (self.root.rows, mean(scores));
        let squares: f64 = scores.iter().map(|z| (z - middle) * (z - middle)).sum();
        let mut gradient = vec![0.0; rows.layout().n()];
        for (i, z) in scores.iter().enumerate() {
            add_scaled(&mut gradient, (z - middle) / squares.max(1e-18), rows.a(i));
        }
        gradient
    }
}

/// Sums over rows by condition and group, with the rows' weights: of `h`, and of `h' a` with `h' = h (1 −
/// h)`, followed by the sum of `h' r`.
struct DecisionSums {
    decisions: Vec<Vec<f64>>,
    slopes: Vec<Vec<Vec<f64>>>,
}

impl DecisionSums {
    fn zeros(rows: &WeightedRows<'_>) -> Self {
        let (n, n_groups) = (rows.rows.layout().n(), rows.rows.layout().groups.len());
        let n_conditions = rows.weights.len();
        Self {
            decisions: vec![vec![0.0; n_groups]; n_conditions],
            slopes: vec![vec![vec![0.0; n + 1]; n_groups]; n_conditions],
        }
    }

    fn of(rows: &WeightedRows<'_>, theta: &[f64], slope: f64) -> Self {
        let n_rows = rows.rows.len();
        let starts: Vec<usize> = (0..n_rows).step_by(CHUNK_ROWS).collect();
        let chunk = |start: &usize| {
            Self::of_chunk(rows, *start..(start + CHUNK_ROWS).min(n_rows), theta, slope)
        };
        let chunks: Vec<Self> = starts.par_iter().map(chunk).collect();
        let mut all = Self::zeros(rows);
        chunks.iter().for_each(|chunk| all.add(chunk));
        all
    }

    fn of_chunk(rows: &WeightedRows<'_>, range: Range<usize>, theta: &[f64], slope: f64) -> Self {
        let (mut sums, n) = (Self::zeros(rows), theta.len());
        for i in range {
            let (a, group) = (rows.rows.a(i), rows.rows.group(i));
            let score = dot(a, theta);
            let h = sigmoid(slope * score);
            for (at, weights) in rows.weights.iter().enumerate() {
                sums.decisions[at][group] += weights[i] * h;
                let factor = weights[i] * h * (1.0 - h);
                add_scaled(&mut sums.slopes[at][group][..n], factor, a);
                sums.slopes[at][group][n] += factor * score;
            }
        }
        sums
    }

    fn add(&mut self, chunk: &Self) {
        let own = self.decisions.iter_mut().chain(self.slopes.iter_mut().flatten());
        let others = chunk.decisions.iter().chain(chunk.slopes.iter().flatten());
        own.zip(others).for_each(|(own, other)| add_scaled(own, 1.0, other));
    }

    /// Adds `factor ×` the gradient of a gap at a fixed spread. Returns that of the scale of all scores.
    fn add_gradient(
        &self,
        rows: &WeightedRows<'_>,
        of: &Contrast,
        factor: f64,
        gradient: &mut [f64],
    ) -> f64 {
        let by_group = &self.slopes[of.at];
        let entry = |j: usize| {
            let sums: Vec<f64> = by_group.iter().map(|group| group[j]).collect();
            difference(&sums, &rows.totals[of.at], of.group)
        };
        gradient.iter_mut().enumerate().for_each(|(j, g)| *g += factor * entry(j));
        factor * entry(gradient.len())
    }
}

/// The minimiser on the simplex, from `start`: exponentiated gradient with backtracking.
pub(super) fn minimise(evaluate: impl Fn(&[f64]) -> (f64, Vec<f64>), start: &[f64]) -> Vec<f64> {
    let mut weights = start.to_vec();
    let (mut value, mut gradient) = evaluate(&weights);
    let mut step = 1.0;
    for _ in 0..MAX_STEPS {
        let (next, at_next, slopes) = loop {
            let next = exponentiated(&weights, &gradient, step);
            let (at_next, slopes) = evaluate(&next);
            let promised: f64 =
                gradient.iter().zip(next.iter().zip(&weights)).map(|(g, (v, w))| g * (v - w)).sum();
            let bound = value + promised + divergence(&next, &weights) / step + 1e-14;
            if at_next <= bound || step < 1e-9 {
                break (next, at_next, slopes);
            }
            step /= 2.0;
        };
        let change = next.iter().zip(&weights).map(|(v, w)| (v - w).abs()).fold(0.0, f64::max);
        (weights, value, gradient) = (next, at_next, slopes);
        step *= 1.5;
        if change < TOLERANCE {
            break;
        }
    }
    weights
}

/// `w exp(−t g)`, normalised.
fn exponentiated(weights: &[f64], gradient: &[f64], step: f64) -> Vec<f64> {
    let mean = dot(gradient, weights);
    let logs: Vec<f64> =
        weights.iter().zip(gradient).map(|(w, g)| w.max(1e-300).ln() - step * (g - mean)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// `KL(v ‖ w)`.
fn divergence(v: &[f64], w: &[f64]) -> f64 {
    v.iter().zip(w).map(|(v, w)| v * (v.max(1e-300).ln() - w.max(1e-300).ln())).sum()
}
