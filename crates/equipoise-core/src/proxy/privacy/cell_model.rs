//! From noisy moments to a Gaussian for each cell, with a common covariance.
//!
//! Noise of known size is taken into account twice. A cell's mean moves towards that of all rows with its label, the further
//! the more of their distance noise explains (James and Stein's rule). And no eigenvalue of the covariance is smaller than
//! the noise in it, so that directions of which the releases say nothing have no influence on the model.

use super::super::columns::{EncodedColumn, EncodedColumns};
use super::NoisyMoments;
use super::moments::feature_units;
use crate::error::Error;
use crate::linalg::{SymmetricEigen, add_outer_product};

/// The smallest eigenvalue, in units of the typical size of the largest eigenvalue of the noise.
const EIGENVALUE_FLOOR: f64 = 0.5;
/// A cell with fewer rows than this many standard deviations of the noise counts as empty.
const EMPTY: f64 = 2.0;

/// A Gaussian for each cell.
#[derive(Debug, Clone)]
pub(in crate::proxy) struct CellModel {
    /// Rows in each cell, by group and label.
    pub(in crate::proxy) counts: Vec<usize>,
    /// The mean of each cell, in encoded units; `None` for an empty one.
    pub(in crate::proxy) means: Vec<Option<Vec<f64>>>,
    /// The factor `F` of the common covariance `F Fᵀ`, all entries column by column.
    pub(in crate::proxy) factor: Vec<f64>,
}

impl CellModel {
    /// An error if noise hides all rows of a label: there is nothing to learn from the rest.
    pub(in crate::proxy) fn new(
        moments: &NoisyMoments,
        columns: &EncodedColumns,
    ) -> Result<Self, Error> {
        let units = feature_units(columns);
        let counts: Vec<f64> = moments
            .counts
            .iter()
            .map(|&n| if n < EMPTY * moments.sum_noise { 0.0 } else { n.max(1.0) })
            .collect();
        let has_label = |label: usize| counts.iter().skip(label).step_by(2).any(|n| *n > 0.0);
        if !(has_label(0) && has_label(1)) {
            return Err(Error::Hidden { rows: (EMPTY * moments.sum_noise).ceil() as usize });
        }
        let cells = counts.iter().zip(&moments.sums);
        let raw: Vec<Option<Vec<f64>>> = cells
            .map(|(&n, sum)| {
                (n > 0.0).then(|| possible(sum.iter().map(|s| s / n).collect(), columns))
            })
            .collect();
        let shrunk = shrink(&raw, &counts, moments.sum_noise);
        let means = shrunk.into_iter().map(|mean| {
            mean.map(|mean| mean.iter().zip(&units).map(|(v, unit)| v * unit).collect())
        });
        Ok(Self {
            means: means.collect(),
            factor: factor(moments, &raw, &counts, columns, &units),
            counts: counts.iter().map(|&n| n.round() as usize).collect(),
        })
    }
}

/// The nearest mean that rows of these columns can have, in units of the columns.
fn possible(mut mean: Vec<f64>, columns: &EncodedColumns) -> Vec<f64> {
    for (column, place) in columns.iter() {
        let own = &mut mean[place];
        match column {
            EncodedColumn::Number => own.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0)),
            EncodedColumn::Levels { complete, .. } => {
                own.iter_mut().for_each(|v| *v = v.clamp(0.0, 1.0));
                let sum: f64 = own.iter().sum();
                if sum > 1.0 || complete {
                    let n = own.len() as f64;
                    // Levels of which nothing is known are equally likely.
                    own.iter_mut().for_each(|v| *v = if sum > 0.0 { *v / sum } else { 1.0 / n });
                }
            }
        }
    }
    mean
}

/// Moves the mean of each cell towards that of all cells with its label.
fn shrink(means: &[Option<Vec<f64>>], counts: &[f64], noise: f64) -> Vec<Option<Vec<f64>>> {
    let of_label = |label: usize| -> Vec<f64> {
        let own = || means.iter().zip(counts).skip(label).step_by(2);
        let total: f64 = own().map(|(_, n)| n).sum();
        let n_x = means.iter().flatten().next().map_or(0, Vec::len);
        let mut mean = vec![0.0; n_x];
        for (cell, n) in own() {
            let share = n / total;
            let cell = cell.iter().flatten();
            mean.iter_mut().zip(cell).for_each(|(m, v)| *m += share * v);
        }
        mean
    };
    let labels = [of_label(0), of_label(1)];
    let cells = means.iter().zip(counts).enumerate();
    cells
        .map(|(cell, (mean, n))| {
            let (mean, centre) = (mean.as_ref()?, &labels[cell % 2]);
            let distance: f64 = mean.iter().zip(centre).map(|(m, c)| (m - c) * (m - c)).sum();
            let by_noise = (mean.len() as f64 - 2.0).max(0.0) * (noise / n).powi(2);
            let own = if distance > by_noise { 1.0 - by_noise / distance } else { 0.0 };
            Some(mean.iter().zip(centre).map(|(m, c)| c + own * (m - c)).collect())
        })
        .collect()
}

/// The factor of the covariance within cells, in encoded units.
fn factor(
    moments: &NoisyMoments,
    means: &[Option<Vec<f64>>],
    counts: &[f64],
    columns: &EncodedColumns,
    units: &[f64],
) -> Vec<f64> {
    let n_x = units.len();
    let n_rows: f64 = counts.iter().sum::<f64>().max(1.0);
    let mut covariance: Vec<f64> = moments.products.iter().map(|p| p / n_rows).collect();
    for (mean, n) in means.iter().zip(counts) {
        if let Some(mean) = mean {
            add_outer_product(&mut covariance, -n / n_rows, mean);
        }
    }
    let eigen = SymmetricEigen::new(&covariance, n_x);
    // The largest eigenvalue of symmetric noise is about twice this.
    let noise = moments.product_noise / n_rows * (n_x as f64).sqrt();
    let floor = EIGENVALUE_FLOOR * 2.0 * noise;
    let mut factor = Vec::with_capacity(n_x * n_x);
    for (value, vector) in eigen.values.iter().zip(&eigen.vectors) {
        let mut column = vector.clone();
        remove_sums(&mut column, columns);
        let deviation = value.max(floor).max(0.0).sqrt();
        factor.extend(column.iter().zip(units).map(|(v, unit)| v * unit * deviation));
    }
    factor
}

/// Removes what would change the sum of a column of levels of which every row has exactly one.
pub(in crate::proxy) fn remove_sums(direction: &mut [f64], columns: &EncodedColumns) {
    for (column, place) in columns.iter() {
        if let EncodedColumn::Levels { n, complete: true } = column {
            let own = &mut direction[place];
            let mean = own.iter().sum::<f64>() / n as f64;
            own.iter_mut().for_each(|v| *v -= mean);
        }
    }
}
