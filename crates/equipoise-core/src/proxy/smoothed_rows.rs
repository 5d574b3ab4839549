//! Features and groups sampled from a smoothed model of the client's data, in parallel.
//!
//! The model is that of `start`: a Gaussian for each cell, with moments shrunk towards those of all rows. Here the moments
//! are summed in blocks, and every block of sampled rows has its own stream of random numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::blocks::{add, map_blocks};
use super::privacy::CellModel;
use super::start::{Gaussian, Moments, apportion};
use crate::error::Error;
use crate::kernel::OuterProducts;
use crate::linalg::{RangeProjection, add_outer_product};
use crate::packed_rows::BLOCK_ROWS;
use crate::rows::Rows;
use crate::statistics::triangle;

/// The fewest proxy rows of a group that the data has: a group needs both labels.
pub(super) const MIN_GROUP_ROWS: usize = 2;

/// A smoothed model of the client's data.
pub(super) struct SmoothedModel {
    /// Rows of each cell in the data, by group and label.
    counts: Vec<usize>,
    /// `None` for a cell without rows.
    cells: Vec<Option<Cell>>,
    varying: RangeProjection,
}

/// The Gaussian of one cell: its mean, and the factor of its covariance, all entries column by column.
struct Cell {
    mean: Vec<f64>,
    factor: Vec<f64>,
}

/// Rows, with the label of the cell that each was sampled from.
pub(super) struct SampledRows {
    /// The features, row by row.
    pub(super) x: Vec<f64>,
    pub(super) groups: Vec<u8>,
    pub(super) positive: Vec<bool>,
}

impl SmoothedModel {
    /// Two passes over `data`.
    pub(super) fn of(data: &Rows) -> Result<Self, Error> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); 2 * data.layout().groups.len()];
        for i in 0..data.len() {
            members[2 * data.group(i) + usize::from(data.is_positive(i))].push(i);
        }
        let counts = members.iter().map(Vec::len).collect();
        let moments: Vec<Moments> = members.iter().map(|own| moments(data, own)).collect();
        let everyone = Moments::pooled(&moments);
        let varying = RangeProjection::new(&everyone.covariance, everyone.mean.len());
        let cell = |moments: Moments| {
            if moments.n_rows == 0.0 {
                return Ok(None);
            }
            let Gaussian { mean, lower } = Gaussian::new(moments.shrunk_towards(&everyone))?;
            Ok(Some(Cell { factor: projected(&varying, &lower), mean }))
        };
        let cells = moments.into_iter().map(cell).collect::<Result<_, Error>>()?;
        Ok(Self { counts, cells, varying })
    }

    /// The model with these cells.
    pub(super) fn of_cells(model: CellModel) -> Self {
        let CellModel { counts, means, factor } = model;
        let n_x = means.iter().flatten().next().map_or(0, Vec::len);
        let mut covariance = vec![0.0; triangle(n_x)];
        factor
            .chunks_exact(n_x.max(1))
            .for_each(|column| add_outer_product(&mut covariance, 1.0, column));
        let varying = RangeProjection::new(&covariance, n_x);
        let cell = |mean: Vec<f64>| Cell { mean, factor: factor.clone() };
        let cells = means.into_iter().map(|mean| mean.map(cell)).collect();
        Self { counts, cells, varying }
    }

    /// Rows of the data.
    pub(super) fn n_rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The directions in which the data varies. Rows sampled here vary in these alone.
    pub(super) fn varying(&self) -> &RangeProjection {
        &self.varying
    }

    /// Samples rows, as many of each cell as its share of the data. Each group of the data has at least
    /// [`MIN_GROUP_ROWS`], for which `n_rows` must suffice.
    pub(super) fn sample(&self, n_rows: usize, seed: u64) -> SampledRows {
        let mut blocks = Vec::new();
        for (cell, size) in self.sizes(n_rows).into_iter().enumerate() {
            for start in (0..size).step_by(BLOCK_ROWS) {
                blocks.push((cell, BLOCK_ROWS.min(size - start)));
            }
        }
        let x: Vec<Vec<f64>> = blocks
            .par_iter()
            .enumerate()
            .map(|(stream, &(cell, size))| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(stream as u64);
                self.cells[cell].as_ref().map_or(Vec::new(), |cell| cell.sample(size, &mut rng))
            })
            .collect();
        let groups = blocks.iter().flat_map(|&(cell, size)| vec![(cell / 2) as u8; size]);
        let positive = blocks.iter().flat_map(|&(cell, size)| vec![cell % 2 == 1; size]);
        SampledRows { groups: groups.collect(), positive: positive.collect(), x: x.concat() }
    }

    /// Rows to sample of each cell.
    fn sizes(&self, n_rows: usize) -> Vec<usize> {
        let mut sizes = apportion(n_rows, &self.counts);
        for group in 0..sizes.len() / 2 {
            let cells = [2 * group, 2 * group + 1];
            let Some(own) = cells.into_iter().max_by_key(|&cell| self.counts[cell]) else {
                continue;
            };
            while self.counts[own] > 0 && sizes[cells[0]] + sizes[cells[1]] < MIN_GROUP_ROWS {
                let Some(largest) = (0..sizes.len()).max_by_key(|&cell| sizes[cell]) else { break };
                sizes[largest] -= 1;
                sizes[own] += 1;
            }
        }
        sizes
    }
}

impl Cell {
    fn sample(&self, n_rows: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let n_x = self.mean.len();
        let mut x = Vec::with_capacity(n_rows * n_x);
        let mut away = vec![0.0; n_x];
        for _ in 0..n_rows {
            away.fill(0.0);
            for column in self.factor.chunks_exact(n_x.max(1)) {
                let noise: f64 = StandardNormal.sample(rng);
                away.iter_mut().zip(column).for_each(|(away, l)| *away += l * noise);
            }
            x.extend(self.mean.iter().zip(&away).map(|(mean, away)| mean + away));
        }
        x
    }
}

/// `Q L` column by column, for the projection `Q` and the rows of `L`, each up to its diagonal or empty for 0.
fn projected(varying: &RangeProjection, lower: &[Vec<f64>]) -> Vec<f64> {
    let n = lower.len();
    let entry = |at: usize| {
        let (i, j) = (at % n, at / n);
        lower
            .iter()
            .enumerate()
            .map(|(k, row)| varying.entry(i, k) * row.get(j).unwrap_or(&0.0))
            .sum()
    };
    (0..n * n).map(entry).collect()
}

/// The moments of some rows, summed in blocks.
fn moments(data: &Rows, members: &[usize]) -> Moments {
    let n_x = data.layout().n_x;
    let n_rows = members.len() as f64;
    let mut mean = vec![0.0; n_x];
    let mut covariance = vec![0.0; triangle(n_x)];
    if members.is_empty() {
        return Moments { n_rows, mean, covariance };
    }
    let sums = map_blocks(members.len(), |range| {
        let mut sum = vec![0.0; n_x];
        members[range].iter().for_each(|&i| add(&mut sum, data.x(i)));
        sum
    });
    sums.iter().for_each(|sum| add(&mut mean, sum));
    mean.iter_mut().for_each(|m| *m /= n_rows);
    let sums = map_blocks(members.len(), |range| {
        let mut sum = OuterProducts::new(n_x);
        let mut centred = vec![0.0; n_x];
        for &i in &members[range] {
            centred.iter_mut().zip(data.x(i)).zip(&mean).for_each(|((c, v), m)| *c = v - m);
            sum.add(1.0 / n_rows, &centred);
        }
        sum.finish()
    });
    sums.iter().for_each(|sum| add(&mut covariance, sum));
    Moments { n_rows, mean, covariance }
}

impl Moments {
    /// The moments of all rows, from those of disjoint parts.
    fn pooled(parts: &[Self]) -> Self {
        let n_x = parts.first().map_or(0, |part| part.mean.len());
        let n_rows: f64 = parts.iter().map(|part| part.n_rows).sum();
        let mut mean = vec![0.0; n_x];
        for part in parts {
            let share = part.n_rows / n_rows;
            mean.iter_mut().zip(&part.mean).for_each(|(m, v)| *m += share * v);
        }
        let mut covariance = vec![0.0; triangle(n_x)];
        for part in parts {
            let share = part.n_rows / n_rows;
            covariance.iter_mut().zip(&part.covariance).for_each(|(c, v)| *c += share * v);
            let away: Vec<f64> = part.mean.iter().zip(&mean).map(|(own, all)| own - all).collect();
            add_outer_product(&mut covariance, share, &away);
        }
        Self { n_rows, mean, covariance }
    }
}

#[cfg(test)]
mod tests;
