//! Rates of selection of every client's model, by condition and group, on the sampled rows of the clients.

use rayon::prelude::*;

use super::constants::TrustConstants;
use super::ranking::Placements;
use crate::error::Error;
use crate::fairness::{Condition, Fairness};
use crate::logistic::{dot, sigmoid};
use crate::row_sample::RowSample;
use crate::rows::Rows;
use crate::statistics::ClientStatistics;

/// Rows used to rank: an AUC on so many has an error of about 0.02, well below any deficit that counts.
const RANKED_ROWS: usize = 1024;
/// Rows that a rate needs.
const MIN_ROWS: usize = 2;

/// The rates that count: one for each condition and group, in this order.
#[derive(Debug, Clone)]
pub(super) struct RateIndex {
    /// With their weights.
    pub(super) conditions: Vec<(Condition, f64)>,
    pub(super) n_groups: usize,
}

impl RateIndex {
    pub(super) fn new(fairness: Fairness, n_groups: usize) -> Self {
        Self { conditions: fairness.conditions().collect(), n_groups }
    }

    /// Number of rates.
    pub(super) fn len(&self) -> usize {
        self.conditions.len() * self.n_groups
    }

    /// Condition and group of each rate.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Condition, usize)> {
        let conditions = self.conditions.iter();
        conditions.flat_map(|(c, _)| (0..self.n_groups).map(move |group| (*c, group)))
    }

    /// Each rate minus the mean of its condition's known rates. An unknown rate has the contrast 0.
    pub(super) fn contrasts(&self, rates: &[Option<f64>]) -> Vec<f64> {
        let mut contrasts = Vec::with_capacity(rates.len());
        for rates in rates.chunks_exact(self.n_groups) {
            let known: Vec<f64> = rates.iter().flatten().copied().collect();
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            contrasts.extend(rates.iter().map(|rate| rate.map_or(0.0, |rate| rate - mean)));
        }
        contrasts
    }

    /// Number of rows behind each rate.
    pub(super) fn counts(&self, cell_counts: &[[usize; 2]]) -> Vec<usize> {
        let count = |(condition, group): (Condition, usize)| {
            let [negatives, positives] = cell_counts[group];
            usize::from(condition.includes(false)) * negatives
                + usize::from(condition.includes(true)) * positives
        };
        self.iter().map(count).collect()
    }
}

/// The rates of one model on one table. `None` where the table has too few rows.
#[derive(Debug, Clone)]
pub(super) struct ModelRates {
    /// Of soft decisions with slope 1, which few rows measure well.
    pub(super) soft: Vec<Option<f64>>,
    /// Of steep ones, close to the rates of hard decisions.
    pub(super) steep: Vec<Option<f64>>,
    /// Within-group AUC.
    pub(super) auc: Option<f64>,
}

/// The rates of all models on the rows of one sampled client.
pub(super) type OnSample = Vec<ModelRates>;

/// The rates of all models on every sample.
pub(super) fn measure_on_samples(
    proxies: &dyn ClientStatistics,
    models: &[Vec<f64>],
    index: &RateIndex,
    constants: &TrustConstants,
) -> Result<Vec<OnSample>, Error> {
    let samples: Vec<&RowSample> =
        (0..proxies.n_clients()).filter_map(|client| proxies.sample(client)).collect();
    if samples.is_empty() {
        return Err(Error::Input(
            "the defense `trust` needs samples of the proxies' rows, but these proxies have none"
                .to_owned(),
        ));
    }
    let on_sample = |sample: &&RowSample| {
        let ranked = every_nth(sample.rows());
        let rates = models.par_iter().map(|theta| {
            let scores = |rows: &Rows| -> Vec<f64> {
                (0..rows.len()).map(|i| dot(rows.a(i), theta)).collect()
            };
            let [soft, steep] = soft_rates(sample, &scores(sample.rows()), index, constants.slope);
            ModelRates { soft, steep, auc: Placements::new(&ranked, &scores(&ranked)).auc() }
        });
        rates.collect()
    };
    Ok(samples.iter().map(on_sample).collect())
}

/// At most [`RANKED_ROWS`] rows, at equal distances.
fn every_nth(rows: &Rows) -> Rows {
    let step = rows.len().div_ceil(RANKED_ROWS).max(1);
    rows.select(&(0..rows.len()).step_by(step).collect::<Vec<_>>())
}

/// The rates with slope 1 and with slope `k`. A cell counts as much as it has rows, sampled or not.
fn soft_rates(
    sample: &RowSample,
    scores: &[f64],
    index: &RateIndex,
    slope: f64,
) -> [Vec<Option<f64>>; 2] {
    let rows = sample.rows();
    // By group and label: rows, and sums of both decisions.
    let mut sums = vec![[(0usize, [0.0; 2]); 2]; index.n_groups];
    for (i, &z) in scores.iter().enumerate() {
        let (n, sum) = &mut sums[rows.group(i)][usize::from(rows.is_positive(i))];
        *n += 1;
        sum[0] += sigmoid(z);
        sum[1] += sigmoid(slope * z);
    }
    [0, 1].map(|which| {
        let rate = |(condition, group): (Condition, usize)| {
            let (mut n_rows, mut sum) = (0, 0.0);
            for label in [false, true].into_iter().filter(|&label| condition.includes(label)) {
                let (n, sums) = sums[group][usize::from(label)];
                let of_cell = sample.cell_counts()[group][usize::from(label)];
                n_rows += of_cell;
                sum += of_cell as f64 * sums[which] / n.max(1) as f64;
            }
            (n_rows >= MIN_ROWS).then(|| sum / n_rows as f64)
        };
        index.iter().map(rate).collect()
    })
}

#[cfg(test)]
mod tests;
