//! Rows sampled for a cell.
//!
//! A row of cell `x̂` that comes from group `s` and label `y` is `m(x̂) + o(s, y) + ε`: the mean of the cell, the mean distance of the
//! rows of `s` and `y` from the means of their cells, and Gaussian noise with the covariance of what then remains. All of these are
//! averages over many rows, and none is a row. Columns outside the cells keep their relation with group and label through `o`, and with
//! each other through the covariance.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::super::start::{Gaussian, Moments};
use super::cells::Cells;
use super::mapping::Source;
use crate::error::Error;
use crate::kernel::OuterProducts;
use crate::linalg::RangeProjection;
use crate::logistic::dot;
use crate::rows::Rows;

pub(super) struct CellRows {
    /// `m`, cell by cell.
    means: Vec<Vec<f64>>,
    /// `o`, by group and label.
    offsets: Vec<Vec<f64>>,
    noise: Gaussian,
    /// The directions in which the noise varies.
    varying: RangeProjection,
}

impl CellRows {
    pub(super) fn of(rows: &Rows, cells: &Cells) -> Result<Self, Error> {
        let n_x = rows.layout().n_x;
        let cell_of = cells.of_rows();
        let part_of = |i: usize| 2 * rows.group(i) + usize::from(rows.is_positive(i));
        let means = means(rows.len(), cells.len(), n_x, |i| cell_of[i], |i, k| rows.x(i)[k]);
        let n_parts = 2 * rows.layout().groups.len();
        let from_mean = |i: usize, k: usize| rows.x(i)[k] - means[cell_of[i]][k];
        let offsets = self::means(rows.len(), n_parts, n_x, part_of, from_mean);
        let mut products = OuterProducts::new(n_x);
        let mut rest = vec![0.0; n_x];
        for i in 0..rows.len() {
            for (k, rest) in rest.iter_mut().enumerate() {
                *rest = from_mean(i, k) - offsets[part_of(i)][k];
            }
            products.add(1.0 / rows.len() as f64, &rest);
        }
        let covariance = products.finish();
        let varying = RangeProjection::new(&covariance, n_x);
        let n_rows = rows.len() as f64;
        let noise = Gaussian::new(Moments { n_rows, mean: vec![0.0; n_x], covariance })?;
        Ok(Self { means, offsets, noise, varying })
    }

    /// Adds the features of a row of `cell` that comes from `source`.
    pub(super) fn sample(
        &self,
        cell: usize,
        source: Source,
        rng: &mut ChaCha8Rng,
        x: &mut Vec<f64>,
    ) {
        let noise: Vec<f64> = self.noise.mean.iter().map(|_| StandardNormal.sample(rng)).collect();
        let away: Vec<f64> = self.noise.lower.iter().map(|row| dot(row, &noise)).collect();
        let offset = &self.offsets[2 * source.group + usize::from(source.positive)];
        let features = self.means[cell].iter().zip(offset).zip(self.varying.apply(&away));
        x.extend(features.map(|((mean, offset), away)| mean + offset + away));
    }
}

/// The mean of `value(row, feature)` over the rows of each part.
fn means(
    n_rows: usize,
    n_parts: usize,
    n_x: usize,
    part_of: impl Fn(usize) -> usize,
    value: impl Fn(usize, usize) -> f64,
) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; n_x]; n_parts];
    let mut counts = vec![0.0f64; n_parts];
    for i in 0..n_rows {
        let part = part_of(i);
        counts[part] += 1.0;
        sums[part].iter_mut().enumerate().for_each(|(k, sum)| *sum += value(i, k));
    }
    for (sum, n) in sums.iter_mut().zip(counts) {
        sum.iter_mut().for_each(|sum| *sum /= n.max(1.0));
    }
    sums
}
