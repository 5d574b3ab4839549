//! What the root says about every client's model: rates with their errors, losses, and how well it ranks.

use rayon::prelude::*;

use super::mixture::Figure;
use super::ranking::Placements;
use super::rates::RateIndex;
use crate::error::Error;
use crate::fairness::Condition;
use crate::logistic::{dot, loss, sigmoid};
use crate::root::Root;
use crate::rows::Rows;

/// Root rows used at most. With so many, the error of a gap is far below the tolerance.
const MAX_ROWS: usize = 1 << 14;
/// Variance of a rate about which the root says nothing.
const UNKNOWN_VARIANCE: f64 = 0.25;
/// The constant that a model must not be worse than keeps this distance from 0 and 1.
const RATE_MARGIN: f64 = 0.02;

/// The root rows, and the rates of all models on them.
pub(super) struct RootRates {
    rows: Rows,
    index: RateIndex,
    /// Of soft decisions, with slope 1, in the order of the clients.
    pub(super) models: Vec<OnRoot>,
    /// The mean of all models' soft decisions, row by row.
    soft: Vec<f64>,
    /// The same of steep ones.
    steep: Vec<f64>,
    /// The rates of the mean model's soft decisions.
    mean_model: Vec<Spread>,
    /// Positive labels by group.
    labels: Vec<Spread>,
}

/// One model on the root.
pub(super) struct OnRoot {
    /// Its soft rates.
    rates: Vec<Spread>,
    /// Its decisions minus those of the mean model.
    paired: Vec<Spread>,
    /// Mean loss minus that of the best constant.
    pub(super) excess_loss: Figure,
    /// Within-group AUC.
    pub(super) auc: Option<f64>,
    /// Root mean square of its scores.
    pub(super) scale: f64,
}

/// Mean of some values and their squared deviations from it.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    n: usize,
    mean: f64,
    squares: f64,
}

impl RootRates {
    pub(super) fn new(
        root: &Root,
        models: &[Vec<f64>],
        index: &RateIndex,
        slope: f64,
    ) -> Result<Self, Error> {
        let rows = measured_rows(root)?;
        let mean_decisions = |slope: f64| -> Vec<f64> {
            let decide = |i: usize| {
                let scores = models.iter().map(|theta| dot(rows.a(i), theta));
                scores.map(|z| sigmoid(slope * z)).sum::<f64>() / models.len() as f64
            };
            (0..rows.len()).into_par_iter().map(decide).collect()
        };
        let (soft, steep) = (mean_decisions(1.0), mean_decisions(slope));
        let on_root =
            models.par_iter().map(|theta| OnRoot::new(&rows, theta, &soft, index)).collect();
        let positive: Vec<f64> = rows.labels().iter().map(|y| 0.5 + 0.5 * y).collect();
        let by_group = RateIndex { conditions: vec![(Condition::All, 1.0)], ..index.clone() };
        Ok(Self {
            models: on_root,
            mean_model: spreads(&rows, &soft, index),
            labels: spreads(&rows, &positive, &by_group),
            index: index.clone(),
            soft,
            steep,
            rows,
        })
    }

    /// Whether the models do not see the group.
    pub(super) fn is_blind(&self) -> bool {
        !self.rows.layout().as_feature
    }

    pub(super) fn index(&self) -> &RateIndex {
        &self.index
    }

    /// The gap of the mean model along a direction, in soft decisions.
    fn soft_level(&self, direction: &[f64]) -> Figure {
        project(&self.mean_model, direction, self.index.n_groups)
    }

    /// The same in steep decisions. `shift` is what the clients' rows say about the difference between the two.
    ///
    /// Few root rows measure the soft gap better than the steep one, but then the clients must tell the shift. Both are
    /// combined with the least error: a share `k` of the shift comes from the root, `1 − k` from the clients' rows. If these are
    /// beyond doubt, `k` is 0; with more and more root rows, it approaches 1.
    pub(super) fn level(&self, direction: &[f64], shift: Figure) -> Figure {
        let measure = |decide: &dyn Fn(f64, f64) -> f64| {
            let pairs = self.soft.iter().zip(&self.steep);
            let decisions: Vec<f64> = pairs.map(|(soft, steep)| decide(*soft, *steep)).collect();
            project(&spreads(&self.rows, &decisions, &self.index), direction, self.index.n_groups)
        };
        let on_root = measure(&|soft, steep| steep - soft);
        let doubt = shift.error * shift.error;
        let k = doubt / (doubt + on_root.error * on_root.error);
        let blended = measure(&|soft, steep| soft + k * (steep - soft));
        Figure {
            value: blended.value + (1.0 - k) * shift.value,
            error: blended.error.hypot((1.0 - k) * shift.error),
        }
    }

    /// By how much a client's gap differs from the mean model's.
    pub(super) fn offset(&self, client: usize, direction: &[f64]) -> Figure {
        let model = &self.models[client];
        let n_groups = self.index.n_groups;
        let value =
            project(&model.rates, direction, n_groups).value - self.soft_level(direction).value;
        Figure { value, error: project(&model.paired, direction, n_groups).error }
    }

    /// The gap of the labels along a direction, its conditions taken together.
    pub(super) fn label_gap(&self, direction: &[f64]) -> Figure {
        let n_groups = self.index.n_groups;
        let mut by_group = vec![0.0; n_groups];
        for (j, v) in direction.iter().enumerate() {
            by_group[j % n_groups] += v;
        }
        project(&self.labels, &by_group, n_groups)
    }

    /// DeLong's error of the difference of each client's AUC to that of `best`.
    pub(super) fn auc_errors(&self, models: &[Vec<f64>], best: usize) -> Vec<f64> {
        let placements = |theta: &Vec<f64>| Placements::new(&self.rows, &scores(&self.rows, theta));
        let of_best = placements(&models[best]);
        models.par_iter().map(|theta| placements(theta).paired_error(&of_best)).collect()
    }

    /// The share of rows that the conditions of a direction exclude by their label.
    pub(super) fn excluded_share(&self, direction: &[f64]) -> f64 {
        let positives = (0..self.rows.len()).filter(|&i| self.rows.is_positive(i)).count();
        let rate = positives as f64 / self.rows.len() as f64;
        let excluded = |condition: Condition| {
            let share = |label, share: f64| if condition.includes(label) { 0.0 } else { share };
            share(true, rate) + share(false, 1.0 - rate)
        };
        let sizes = self.index.iter().zip(direction);
        sizes.map(|((condition, _), v)| 0.5 * v.abs() * excluded(condition)).sum()
    }

    /// Rows of the rate with the fewest, among those that the direction uses.
    pub(super) fn fewest_rows(&self, direction: &[f64]) -> usize {
        let used = self.mean_model.iter().zip(direction).filter(|(_, v)| is_used(**v));
        used.map(|(spread, _)| spread.n).min().unwrap_or(0)
    }
}

impl OnRoot {
    fn new(rows: &Rows, theta: &[f64], mean_decisions: &[f64], index: &RateIndex) -> Self {
        let scores = scores(rows, theta);
        let decisions: Vec<f64> = scores.iter().map(|&z| sigmoid(z)).collect();
        let differences: Vec<f64> =
            decisions.iter().zip(mean_decisions).map(|(d, mean)| d - mean).collect();
        Self {
            rates: spreads(rows, &decisions, index),
            paired: spreads(rows, &differences, index),
            excess_loss: excess_loss(rows, &scores),
            auc: Placements::new(rows, &scores).auc(),
            scale: root_mean_square(&scores),
        }
    }
}

/// Root mean square of each model's scores, on the rows that all models are measured on.
pub(super) fn scales(root: &Root, models: &[&[f64]]) -> Result<Vec<f64>, Error> {
    let rows = measured_rows(root)?;
    Ok(models.par_iter().map(|theta| root_mean_square(&scores(&rows, theta))).collect())
}

/// All root rows, or evenly spaced ones if there are very many.
fn measured_rows(root: &Root) -> Result<Rows, Error> {
    let all = root.all_rows()?;
    let step = all.len().div_ceil(MAX_ROWS).max(1);
    Ok(all.select(&(0..all.len()).step_by(step).collect::<Vec<_>>()))
}

fn root_mean_square(scores: &[f64]) -> f64 {
    let squares: f64 = scores.iter().map(|z| z * z).sum();
    (squares / scores.len() as f64).sqrt()
}

fn scores(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    (0..rows.len()).map(|i| dot(rows.a(i), theta)).collect()
}

/// The mean loss minus that of the constant that predicts the share of positive labels.
fn excess_loss(rows: &Rows, scores: &[f64]) -> Figure {
    let n = rows.len() as f64;
    let positives = (0..rows.len()).filter(|&i| rows.is_positive(i)).count() as f64;
    let rate = (positives / n).clamp(RATE_MARGIN, 1.0 - RATE_MARGIN);
    let excess = scores.iter().zip(rows.labels()).map(|(z, y)| {
        let constant = if *y > 0.0 { rate } else { 1.0 - rate };
        loss(y * z) + constant.ln()
    });
    let spread = Spread::of(excess);
    Figure { value: spread.mean, error: spread.squares.sqrt() / n }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n.max(1) as f64;
        Self { n, mean, squares: values.iter().map(|v| (v - mean) * (v - mean)).sum() }
    }
}

fn spreads(rows: &Rows, values: &[f64], index: &RateIndex) -> Vec<Spread> {
    let spread = |(condition, group): (Condition, usize)| {
        let counts =
            |i: &usize| rows.group(*i) == group && condition.includes(rows.is_positive(*i));
        Spread::of((0..rows.len()).filter(counts).map(|i| values[i]))
    };
    index.iter().map(spread).collect()
}

/// `v·rates` and its error. The variance within a cell is at least that of all cells together: a few equal values do
/// not mean certainty. A rate without rows is taken for the mean of its condition, with a large error.
fn project(rates: &[Spread], direction: &[f64], n_groups: usize) -> Figure {
    let used = || rates.iter().zip(direction).filter(|(rate, v)| is_used(**v) && rate.n > 0);
    let freedom: usize = used().map(|(rate, _)| rate.n - 1).sum();
    let squares: f64 = used().map(|(rate, _)| rate.squares).sum();
    let pooled = if freedom > 0 { squares / freedom as f64 } else { UNKNOWN_VARIANCE };
    let (mut value, mut variance) = (0.0, 0.0);
    for (rates, direction) in rates.chunks(n_groups).zip(direction.chunks(n_groups)) {
        let known: Vec<f64> =
            rates.iter().filter(|rate| rate.n > 0).map(|rate| rate.mean).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        for (rate, v) in rates.iter().zip(direction).filter(|(_, v)| is_used(**v)) {
            if rate.n == 0 {
                value += v * mean;
                variance += v * v * UNKNOWN_VARIANCE;
                continue;
            }
            value += v * rate.mean;
            let own = rate.squares / (rate.n.max(2) - 1) as f64;
            variance += v * v * own.max(pooled) / rate.n as f64;
        }
    }
    Figure { value, error: variance.sqrt().max(f64::MIN_POSITIVE) }
}

/// Entries of a direction below this are rounding.
pub(super) fn is_used(v: f64) -> bool {
    v.abs() > 1e-9
}

#[cfg(test)]
mod tests;
