//! One scale for all models, one threshold each, and how probably each client is useful.

use rayon::prelude::*;

use crate::comparison::scores;
use crate::interval::normal_cdf;
use crate::logistic::{loss, loss_terms, sigmoid};
use crate::rows::{Layout, Rows};

use super::measure::{mean, variance};

/// Standard errors by which a threshold must be proven wrong before it moves.
const SHIFT_ERRORS: f64 = 2.0;
/// The common slope, in units of scores of RMS 1.
const SLOPES: (f64, f64) = (0.1, 30.0);
/// A coefficient that fewer trusted rows can check is limited.
const MIN_CHECKED: usize = 10;
/// Such a coefficient may differ from the median by so many robust deviations, or by half a logit.
const MAX_DEVIATIONS: f64 = 3.0;
const MIN_DEVIATION: f64 = 0.5;
/// The standard deviation of a normal distribution whose median absolute deviation is 1.
const ROBUST: f64 = 1.4826;

/// A model and the scores of the trusted rows.
type Scored = (Vec<f64>, Vec<f64>);

/// The models at one scale: `θ̃_c = a θ_c / rms_c`, with the intercept moved by `b_c`.
pub(super) struct Scaled {
    /// `θ̃_c`; all 0 for a model that cannot be read.
    pub(super) models: Vec<Vec<f64>>,
    /// `A θ̃_c`, the scores of the trusted rows.
    pub(super) scores: Vec<Vec<f64>>,
    /// Whether the scores are finite and not all 0.
    pub(super) read: Vec<bool>,
    /// `P_c`, the probability that the client knows more than half of what the best one knows.
    pub(super) useful: Vec<f64>,
    /// `b_c`.
    pub(super) shifts: Vec<f64>,
    /// Mean loss of each model on the trusted rows, and of a constant.
    pub(super) losses: Vec<f64>,
    pub(super) constant: f64,
    /// The client with the lowest loss.
    pub(super) best: usize,
}

impl Scaled {
    /// `None` if no model can be read.
    pub(super) fn new(models: &[Vec<f64>], rows: &Rows) -> Option<Self> {
        let unit = models.par_iter().map(|theta| unit_scale(theta, rows)).collect::<Vec<_>>();
        let read: Vec<bool> = unit.iter().map(Option::is_some).collect();
        let slope = best_slope(&unit, rows.labels())?;
        let scaled = unit.into_par_iter().map(|unit| scale_and_shift(unit, slope, rows));
        let (scaled, shifts): (Vec<Scored>, Vec<f64>) = scaled.unzip();
        let (models, scores): (Vec<_>, Vec<_>) = scaled.into_iter().unzip();

        let labels = rows.labels();
        let losses: Vec<f64> = scores.par_iter().map(|z| mean_loss(z, labels, 1.0)).collect();
        let best = lowest((0..losses.len()).filter(|&c| read[c]).map(|c| (c, losses[c])))?;
        let constant = constant_losses(labels);
        let half_way = half_way(&scores[best], labels, &constant);
        let probability = |c: usize| match read[c] {
            false => 0.0,
            // The best client, and any with the same model.
            true if losses[c] == losses[best] => 1.0,
            true => probability_useful(&scores[c], labels, &half_way),
        };
        let useful = (0..scores.len()).into_par_iter().map(probability).collect();
        Some(Self { models, scores, read, useful, shifts, losses, constant: mean(&constant), best })
    }
}

/// The model divided by the RMS of its scores, and these scores. `None` if they are all 0 or not finite.
fn unit_scale(theta: &[f64], rows: &Rows) -> Option<Scored> {
    let scores = scores(theta, rows);
    let rms = (scores.iter().map(|z| z * z).sum::<f64>() / rows.len() as f64).sqrt();
    let divided = |values: &[f64]| values.iter().map(|v| v / rms).collect::<Vec<f64>>();
    let is_read = rms > 0.0 && rms.is_finite() && theta.iter().all(|t| t.is_finite());
    let unit = is_read.then(|| (divided(theta), divided(&scores)))?;
    unit.0.iter().all(|t| t.is_finite()).then_some(unit)
}

/// `a`: the slope of the client whose loss at its own best slope is lowest.
fn best_slope(unit: &[Option<Scored>], labels: &[f64]) -> Option<f64> {
    let slopes = unit.par_iter().enumerate().filter_map(|(client, unit)| {
        let (_, scores) = unit.as_ref()?;
        let slope = slope(scores, labels);
        Some((client, slope, mean_loss(scores, labels, slope)))
    });
    let slopes: Vec<(usize, f64, f64)> = slopes.collect();
    let best = lowest(slopes.iter().map(|(client, _, loss)| (*client, *loss)))?;
    slopes.iter().find(|(client, ..)| *client == best).map(|(_, slope, _)| slope.max(SLOPES.0))
}

/// The `a ≥ 0` with the lowest loss of `a z`, by Newton's method with short steps.
fn slope(scores: &[f64], labels: &[f64]) -> f64 {
    let mut slope = 0.0;
    for _ in 0..60 {
        let (mut gradient, mut curvature) = (0.0, 0.0);
        for (z, y) in scores.iter().zip(labels) {
            let terms = loss_terms(slope * y * z);
            gradient += y * z * terms.residual;
            curvature += z * z * terms.curvature;
        }
        let n = scores.len() as f64;
        let step = (gradient / n / (curvature / n + 1e-9)).clamp(-1.0, 1.0);
        let next = f64::clamp(slope + step, 0.0, SLOPES.1);
        if (next - slope).abs() < 1e-9 {
            break;
        }
        slope = next;
    }
    slope
}

fn scale_and_shift(unit: Option<Scored>, slope: f64, rows: &Rows) -> (Scored, f64) {
    let layout = rows.layout();
    let Some((mut theta, mut scores)) = unit else {
        return ((vec![0.0; layout.n()], vec![0.0; rows.len()]), 0.0);
    };
    theta.iter_mut().chain(&mut scores).for_each(|v| *v *= slope);
    let moved = intercept(layout).map_or(0.0, |_| shift(&scores, rows.labels()));
    if let Some(at) = intercept(layout) {
        theta[at] += moved;
        scores.iter_mut().for_each(|z| *z += moved);
    }
    ((theta, scores), moved)
}

fn intercept(layout: &Layout) -> Option<usize> {
    layout.intercept.then(|| layout.n() - 1)
}

/// `b`: the shift of the threshold with the lowest loss of `z + b`, less two of its standard errors.
fn shift(scores: &[f64], labels: &[f64]) -> f64 {
    let n = scores.len() as f64;
    let residual = |z: f64, y: f64, b: f64| sigmoid(-y * (z + b));
    let (mut b, mut curvature) = (0.0, 1e-6);
    for _ in 0..100 {
        let (mut gradient, mut sum) = (0.0, 0.0);
        for (z, y) in scores.iter().zip(labels) {
            let p = residual(*z, *y, b);
            gradient += y * p;
            sum += p * (1.0 - p);
        }
        curvature = sum / n + 1e-6;
        let step = (gradient / n / curvature).clamp(-1.0, 1.0);
        b += step;
        if step.abs() < 1e-10 {
            break;
        }
    }
    let gradients: Vec<f64> =
        scores.iter().zip(labels).map(|(z, y)| y * residual(*z, *y, b)).collect();
    let error = variance(&gradients).sqrt() / curvature / n.sqrt();
    (b.abs() - SHIFT_ERRORS * error).max(0.0).copysign(b)
}

fn mean_loss(scores: &[f64], labels: &[f64], slope: f64) -> f64 {
    let sum: f64 = scores.iter().zip(labels).map(|(z, y)| loss(slope * y * z)).sum();
    sum / labels.len() as f64
}

/// The loss of each row if every row gets the share of positive labels.
fn constant_losses(labels: &[f64]) -> Vec<f64> {
    let positive = labels.iter().filter(|y| **y > 0.0).count() as f64 / labels.len() as f64;
    let rate = positive.clamp(0.02, 0.98);
    labels.iter().map(|y| -(if *y > 0.0 { rate } else { 1.0 - rate }).ln()).collect()
}

/// The loss of each row half-way between the best model and the constant.
fn half_way(best: &[f64], labels: &[f64], constant: &[f64]) -> Vec<f64> {
    let rows = best.iter().zip(labels).zip(constant);
    rows.map(|((z, y), constant)| 0.5 * (loss(y * z) + constant)).collect()
}

/// `P_c = Φ(−mean(d) / se(d))`, `d` the loss of each row minus the half-way loss.
fn probability_useful(scores: &[f64], labels: &[f64], half_way: &[f64]) -> f64 {
    let rows = scores.iter().zip(labels).zip(half_way);
    let d: Vec<f64> = rows.map(|((z, y), half_way)| loss(y * z) - half_way).collect();
    let error = (variance(&d) / d.len() as f64).sqrt().max(1e-12);
    normal_cdf(-mean(&d) / error)
}

fn lowest(values: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    values.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(client, _)| client)
}

/// Limits the coefficients of columns that hardly any trusted row can check to what the clients agree on,
/// the median with the prior's weights. Three clients at least. Returns the column and the client of each
/// coefficient that changed.
pub(super) fn limit_unchecked(
    models: &mut [Vec<f64>],
    rows: &Rows,
    prior: &[f64],
) -> Vec<(usize, usize)> {
    let mut limited = Vec::new();
    if models.len() < 3 {
        return limited;
    }
    for column in unchecked_columns(rows) {
        let own: Vec<f64> = models.iter().map(|theta| theta[column]).collect();
        let middle = weighted_median(&own, prior);
        let distances: Vec<f64> = own.iter().map(|t| (t - middle).abs()).collect();
        let spread = MAX_DEVIATIONS * ROBUST * weighted_median(&distances, prior);
        let spread = spread.max(MIN_DEVIATION);
        for (client, theta) in models.iter_mut().enumerate() {
            let within = theta[column].clamp(middle - spread, middle + spread);
            if (within - theta[column]).abs() > 1e-12 {
                theta[column] = within;
                limited.push((column, client));
            }
        }
    }
    limited
}

/// Columns in which fewer than ten rows differ from the median. Not the intercept.
fn unchecked_columns(rows: &Rows) -> Vec<usize> {
    let differs = |column: usize| {
        let values: Vec<f64> = (0..rows.len()).map(|i| rows.a(i)[column]).collect();
        let middle = crate::defense::median(&values);
        values.iter().filter(|v| **v != middle).count()
    };
    let n_columns = rows.layout().n() - usize::from(rows.layout().intercept);
    (0..n_columns).filter(|&column| differs(column) < MIN_CHECKED).collect()
}

/// The smallest value with at least half of the weight at or below it.
fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let half = 0.5 * order.iter().map(|&at| weights[at]).sum::<f64>();
    let mut below = 0.0;
    let reaches_half = |at: &&usize| {
        below += weights[**at];
        below >= half
    };
    order.iter().find(reaches_half).map_or(0.0, |&at| values[at])
}
