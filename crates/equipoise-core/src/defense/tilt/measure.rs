//! Gaps of decisions: on the trusted rows, and on the clients' rows, whose labels are not used.

use std::ops::Range;

use rayon::prelude::*;

use crate::fairness::{Condition, Fairness};
use crate::logistic::{dot, sigmoid};
use crate::rows::Rows;
use crate::trusted::Trusted;

/// Rows that a thread scores at a time. Sums of chunks are added in order.
const CHUNK_ROWS: usize = 1024;
/// Trusted rows that a side of a contrast needs.
const MIN_ROWS: usize = 2;
/// Decisions are `σ(5 z / sd)`: a standard deviation away from the threshold they are .993.
const STEEPNESS: f64 = 5.0;

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean squared deviation.
pub(super) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / values.len().max(1) as f64
}

/// `5 / sd`: the slope at which scores become decisions.
pub(super) fn decision_slope(scores: &[f64]) -> f64 {
    STEEPNESS / (variance(scores).sqrt() + 1e-9)
}

/// Smooth decisions `σ(slope z)`, nearly hard and free of scale.
pub(super) fn decisions(scores: &[f64], slope: f64) -> Vec<f64> {
    scores.iter().map(|z| sigmoid(slope * z)).collect()
}

/// A group against all others, among the rows that a condition keeps.
#[derive(Debug, Clone)]
pub(super) struct Contrast {
    pub(super) condition: Condition,
    /// Where the condition is among those that count.
    pub(super) at: usize,
    pub(super) group: usize,
    /// The weight of the condition as a share of the largest one.
    pub(super) importance: f64,
    /// Trusted rows of the group and of the others.
    sides: [Vec<usize>; 2],
    /// Share of the trusted rows that the condition leaves out.
    pub(super) left_out: f64,
}

impl Contrast {
    /// All contrasts: for each condition one per group, or only the group with more positive labels if there
    /// are two.
    pub(super) fn all(fairness: Fairness, trusted: &Rows) -> Vec<Self> {
        let cells = trusted.cell_counts();
        let rate = |[no, yes]: [usize; 2]| yes as f64 / (no + yes).max(1) as f64;
        let groups = match cells.len() {
            2 => vec![usize::from(rate(cells[1]) >= rate(cells[0]))],
            n => (0..n).collect(),
        };
        let largest = fairness.conditions().map(|(_, weight)| weight).fold(0.0, f64::max);
        let of = |(at, (condition, weight)): (usize, (Condition, f64))| {
            let contrast =
                move |group: &usize| Self::new(condition, at, *group, weight / largest, trusted);
            groups.iter().map(contrast).collect::<Vec<_>>()
        };
        fairness.conditions().enumerate().flat_map(of).collect()
    }

    fn new(condition: Condition, at: usize, group: usize, importance: f64, rows: &Rows) -> Self {
        let kept = || (0..rows.len()).filter(|&i| condition.includes(rows.is_positive(i)));
        let (one, others): (Vec<_>, Vec<_>) = kept().partition(|&i| rows.group(i) == group);
        let left_out = 1.0 - (one.len() + others.len()) as f64 / rows.len() as f64;
        Self { condition, at, group, importance, sides: [one, others], left_out }
    }

    pub(super) fn is_measurable(&self) -> bool {
        self.fewest_rows() >= MIN_ROWS
    }

    /// Trusted rows of the smaller side.
    pub(super) fn fewest_rows(&self) -> usize {
        self.sides[0].len().min(self.sides[1].len())
    }

    /// The difference of means on the trusted rows.
    pub(super) fn trusted_gap(&self, values: &[f64]) -> f64 {
        let [one, others] = self
            .sides
            .each_ref()
            .map(|side| side.iter().map(|&i| values[i]).sum::<f64>() / side.len().max(1) as f64);
        one - others
    }

    /// Its standard error. The variance of a side is at least the pooled one, so that few rows are not
    /// called precise.
    pub(super) fn trusted_error(&self, values: &[f64]) -> f64 {
        let squares = self.sides.each_ref().map(|side| {
            let own: Vec<f64> = side.iter().map(|&i| values[i]).collect();
            (variance(&own) * own.len() as f64, own.len() as f64)
        });
        let [(a, n), (b, m)] = squares;
        let pooled = if n + m > 2.0 { (a + b) / (n + m - 2.0) } else { 0.25 };
        let of_side = |(sum, n): (f64, f64)| (sum / (n - 1.0).max(1.0)).max(pooled) / n.max(1.0);
        (of_side((a, n)) + of_side((b, m))).sqrt()
    }
}

/// The clients' rows, one client after the other.
pub(super) struct ProxyRows {
    pub(super) rows: Rows,
    /// The rows of each client.
    pub(super) clients: Vec<Range<usize>>,
    /// Rows of each client and group, here and in the trusted sample.
    pub(super) counts: Vec<Vec<f64>>,
    pub(super) trusted_counts: Vec<Vec<f64>>,
}

impl ProxyRows {
    pub(super) fn new(samples: &[Rows], trusted: &Trusted) -> Result<Self, crate::error::Error> {
        let mut end = 0;
        let ranges = samples.iter().map(|sample| {
            end += sample.len();
            end - sample.len()..end
        });
        let clients = ranges.collect();
        let of_cell = |[no, yes]: &[usize; 2]| (no + yes) as f64;
        let counts = |rows: &Rows| rows.cell_counts().iter().map(of_cell).collect();
        let counts = samples.iter().map(counts).collect();
        Ok(Self { rows: Rows::concat(samples)?, clients, counts, trusted_counts: trusted.counts() })
    }

    /// The trusted rows that each row of a client and group stands for: `n_root(c, g) / n_sample(c, g)`.
    fn stands_for(&self, client: usize, group: usize) -> f64 {
        let (trusted, here) = (self.trusted_counts[client][group], self.counts[client][group]);
        if here > 1.0 { trusted / here } else { 0.0 }
    }

    /// A number for every row from its client and the row.
    fn per_row(&self, number: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let of = |(client, rows): (usize, &Range<usize>)| {
            rows.clone().map(|i| number(client, i)).collect::<Vec<_>>()
        };
        self.clients.iter().enumerate().flat_map(of).collect()
    }
}

/// Rows with a weight under each condition, and the weights' sums by group.
pub(super) struct WeightedRows<'a> {
    pub(super) rows: &'a Rows,
    /// For each condition, one per row.
    pub(super) weights: Vec<Vec<f64>>,
    pub(super) totals: Vec<Vec<f64>>,
}

impl<'a> WeightedRows<'a> {
    fn new(rows: &'a Rows, weights: Vec<Vec<f64>>) -> Self {
        let ones = vec![1.0; rows.len()];
        let totals = weights.iter().map(|w| by_group(rows, 0..rows.len(), w, &ones)).collect();
        Self { rows, weights, totals }
    }

    /// The trusted rows: each that a condition keeps counts 1.
    pub(super) fn trusted(rows: &'a Rows, conditions: &[Condition]) -> Self {
        let kept = |condition: &Condition| {
            let keeps = |i: usize| f64::from(u8::from(condition.includes(rows.is_positive(i))));
            (0..rows.len()).map(keeps).collect()
        };
        Self::new(rows, conditions.iter().map(kept).collect())
    }

    /// The clients' rows: as many as in the trusted sample, times the probability that the condition keeps
    /// the row. `chances` has the probability of a positive label for each row.
    pub(super) fn proxies(rows: &'a ProxyRows, chances: &[f64], conditions: &[Condition]) -> Self {
        let weights = |condition: &Condition| {
            rows.per_row(|client, i| {
                rows.stands_for(client, rows.rows.group(i)) * chance_kept(*condition, chances[i])
            })
        };
        Self::new(&rows.rows, conditions.iter().map(weights).collect())
    }

    /// The gap of a contrast, from sums of decisions by condition and group.
    pub(super) fn gap(&self, of: &Contrast, sums: &[Vec<f64>]) -> f64 {
        difference(&sums[of.at], &self.totals[of.at], of.group)
    }
}

/// The probability that a condition keeps a row whose label is positive with this probability.
pub(super) fn chance_kept(condition: Condition, chance: f64) -> f64 {
    match condition {
        Condition::All => 1.0,
        Condition::Positives => chance,
        Condition::Negatives => 1.0 - chance,
    }
}

/// Sums of `weight × value` by group.
pub(super) fn by_group(
    rows: &Rows,
    range: Range<usize>,
    weights: &[f64],
    values: &[f64],
) -> Vec<f64> {
    let mut sums = vec![0.0; rows.layout().groups.len()];
    range.for_each(|i| sums[rows.group(i)] += weights[i] * values[i]);
    sums
}

/// The mean of a group minus the mean of the others, from sums and weights by group.
pub(super) fn difference(sums: &[f64], totals: &[f64], group: usize) -> f64 {
    let without = |values: &[f64]| values.iter().sum::<f64>() - values[group];
    sums[group] / totals[group].max(1e-12) - without(sums) / without(totals).max(1e-12)
}

/// The standard error of the rows' gap: jackknife over clients. `K = 1`: 1, nothing is known.
pub(super) fn jackknife(
    rows: &ProxyRows,
    weighted: &WeightedRows<'_>,
    of: &Contrast,
    values: &[f64],
) -> f64 {
    let (weights, n) = (&weighted.weights[of.at], rows.clients.len() as f64);
    let ones = vec![1.0; values.len()];
    let all = by_group(&rows.rows, 0..values.len(), weights, values);
    let less = |all: &[f64], own: Vec<f64>| -> Vec<f64> {
        all.iter().zip(own).map(|(all, own)| all - own).collect()
    };
    let without = |client: &Range<usize>| {
        let sums = less(&all, by_group(&rows.rows, client.clone(), weights, values));
        let totals = by_group(&rows.rows, client.clone(), weights, &ones);
        difference(&sums, &less(&weighted.totals[of.at], totals), of.group)
    };
    let gaps: Vec<f64> = rows.clients.iter().map(without).collect();
    if gaps.len() < 2 { 1.0 } else { ((n - 1.0) * variance(&gaps)).sqrt() }
}

/// Decisions of all models on the clients' rows.
pub(super) struct OnRows {
    /// The mean decision of all models on each row.
    pub(super) mean: Vec<f64>,
    /// Sums of each model's decisions by condition and group, with the rows' weights:
    /// `[condition][group][model]`.
    pub(super) weighted: Vec<Vec<Vec<f64>>>,
    /// The same without weights: `[group][model]`.
    pub(super) plain: Vec<Vec<f64>>,
}

impl OnRows {
    /// One pass over the rows for all models.
    pub(super) fn measure(rows: &WeightedRows<'_>, models: &[&[f64]], slopes: &[f64]) -> Self {
        let n = rows.rows.layout().n();
        // Column by column, so that one row's scores under all models are sums of long rows.
        let columns: Vec<Vec<f64>> =
            (0..n).map(|j| models.iter().map(|theta| theta[j]).collect()).collect();
        let starts: Vec<usize> = (0..rows.rows.len()).step_by(CHUNK_ROWS).collect();
        let chunk = |start: &usize| {
            let range = *start..(start + CHUNK_ROWS).min(rows.rows.len());
            Self::of_chunk(rows, range, &columns, slopes)
        };
        let chunks: Vec<Self> = starts.par_iter().map(chunk).collect();
        let mut all = Self::zeros(rows, slopes.len());
        chunks.into_iter().for_each(|chunk| all.add(chunk));
        all
    }

    fn zeros(rows: &WeightedRows<'_>, n_models: usize) -> Self {
        let plain = vec![vec![0.0; n_models]; rows.rows.layout().groups.len()];
        Self { mean: Vec::new(), weighted: vec![plain.clone(); rows.weights.len()], plain }
    }

    fn of_chunk(
        rows: &WeightedRows<'_>,
        range: Range<usize>,
        columns: &[Vec<f64>],
        slopes: &[f64],
    ) -> Self {
        let mut sums = Self::zeros(rows, slopes.len());
        for i in range {
            let mut values = vec![0.0; slopes.len()];
            for (a, column) in rows.rows.a(i).iter().zip(columns) {
                add_scaled(&mut values, *a, column);
            }
            values.iter_mut().zip(slopes).for_each(|(z, slope)| *z = sigmoid(slope * *z));
            let group = rows.rows.group(i);
            sums.mean.push(mean(&values));
            add_scaled(&mut sums.plain[group], 1.0, &values);
            for (table, weights) in sums.weighted.iter_mut().zip(&rows.weights) {
                add_scaled(&mut table[group], weights[i], &values);
            }
        }
        sums
    }

    fn add(&mut self, chunk: Self) {
        self.mean.extend(chunk.mean);
        let tables = self.weighted.iter_mut().flatten().chain(&mut self.plain);
        let others = chunk.weighted.iter().flatten().chain(&chunk.plain);
        tables.zip(others).for_each(|(table, other)| add_scaled(table, 1.0, other));
    }

    /// The gap of each model.
    pub(super) fn gaps(&self, rows: &WeightedRows<'_>, of: &Contrast) -> Vec<f64> {
        let of_model = |model: usize| {
            let sums: Vec<f64> = self.weighted[of.at].iter().map(|group| group[model]).collect();
            difference(&sums, &rows.totals[of.at], of.group)
        };
        (0..self.plain.first().map_or(0, Vec::len)).map(of_model).collect()
    }
}

pub(super) fn add_scaled(sums: &mut [f64], factor: f64, values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// `P(y = +1 | x, g) = σ(α z̄ + β_g)` of each of the clients' rows, `z̄` the mean score. `α` and `β_g` are
/// fitted to the trusted labels, with a pull to (1, 0, …) worth a tenth of a row, by Newton's method with
/// short steps.
pub(super) fn positive_chances(average: &[f64], trusted: &Rows, rows: &Rows) -> Vec<f64> {
    let n_groups = trusted.layout().groups.len();
    let n = trusted.len() as f64;
    let scores: Vec<f64> = (0..trusted.len()).map(|i| dot(trusted.a(i), average)).collect();
    let (mut slope, mut shifts) = (1.0, vec![0.0; n_groups]);
    for _ in 0..50 {
        let mut fit = ChanceFit::new(n, slope, &shifts);
        (0..trusted.len())
            .for_each(|i| fit.add(scores[i], trusted.group(i), trusted.is_positive(i), n));
        let (step, steps) = fit.step();
        slope -= step.clamp(-2.0, 2.0);
        shifts.iter_mut().zip(&steps).for_each(|(b, step)| *b -= step.clamp(-2.0, 2.0));
        if steps.iter().chain([&step]).all(|step| step.abs() < 1e-8) {
            break;
        }
    }
    (0..rows.len())
        .map(|i| sigmoid(slope * dot(rows.a(i), average) + shifts[rows.group(i)]))
        .collect()
}

/// Gradient and Hessian of that fit. The Hessian is an arrow: only the slope's row has entries off the
/// diagonal.
struct ChanceFit {
    slope: f64,
    shifts: Vec<f64>,
    gradient: (f64, Vec<f64>),
    diagonal: (f64, Vec<f64>),
    arrow: Vec<f64>,
}

impl ChanceFit {
    fn new(n: f64, slope: f64, shifts: &[f64]) -> Self {
        let pull = 0.05 / n;
        Self {
            slope,
            shifts: shifts.to_vec(),
            gradient: (0.1 / n * (slope - 1.0), shifts.iter().map(|b| pull * b).collect()),
            diagonal: (0.1 / n + 1e-9, vec![pull + 1e-9; shifts.len()]),
            arrow: vec![0.0; shifts.len()],
        }
    }

    fn add(&mut self, z: f64, group: usize, is_positive: bool, n: f64) {
        let p = sigmoid(self.slope * z + self.shifts[group]);
        let (residual, curvature) = ((p - f64::from(u8::from(is_positive))) / n, p * (1.0 - p) / n);
        self.gradient.0 += residual * z;
        self.gradient.1[group] += residual;
        self.diagonal.0 += curvature * z * z;
        self.diagonal.1[group] += curvature;
        self.arrow[group] += curvature * z;
    }

    /// `H⁻¹ g`, the groups eliminated first.
    fn step(&self) -> (f64, Vec<f64>) {
        let ratio: Vec<f64> = self.arrow.iter().zip(&self.diagonal.1).map(|(a, d)| a / d).collect();
        let slope = (self.gradient.0 - dot(&ratio, &self.gradient.1))
            / (self.diagonal.0 - dot(&ratio, &self.arrow));
        let groups = self.gradient.1.iter().zip(&self.diagonal.1).zip(&ratio);
        (slope, groups.map(|((g, d), ratio)| g / d - ratio * slope).collect())
    }
}
