//! Initial proxy rows: a sample from a smoothed model of the client's data.
//!
//! Each cell of the data, one group and label, is modelled by a Gaussian. Its mean and covariance are shrunk towards those of all rows, as
//! if the cell had [`PRIOR_ROWS`] more rows that are typical of all, so that a cell of one or two people does not reveal
//! them. No row of the data is ever copied.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{ProxySettings, ProxyStart};
use crate::error::Error;
use crate::linalg::{Cholesky, RangeProjection, add_outer_product};
use crate::logistic::dot;
use crate::rows::Rows;
use crate::statistics::triangle;

/// Weight of the common mean and covariance in each cell, in rows.
const PRIOR_ROWS: f64 = 20.0;

/// The rows that the generator starts from.
pub(super) fn initial_rows(
    data: &Rows,
    settings: &ProxySettings,
    varying: &RangeProjection,
) -> Result<Rows, Error> {
    let n_rows = settings.rows.unwrap_or(data.len());
    match settings.start {
        ProxyStart::Smoothed => sample_smoothed(data, n_rows, settings.seed, varying),
        ProxyStart::Data => {
            let cycled: Vec<usize> = (0..n_rows).map(|i| i % data.len()).collect();
            Ok(data.select(&cycled))
        }
    }
}

/// The projection onto the directions in which the data varies. Linear relations that hold in every row of the data, such
/// as one-hot columns that add up to 1 and constant columns, then hold in every row of the proxy.
pub(super) fn varying_directions(data: &Rows) -> RangeProjection {
    RangeProjection::new(&Moments::of(data, |_| true).covariance, data.layout().n_x)
}

fn sample_smoothed(
    data: &Rows,
    n_rows: usize,
    seed: u64,
    varying: &RangeProjection,
) -> Result<Rows, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let everyone = Moments::of(data, |_| true);
    let (mut x, mut groups, mut positive) = (Vec::new(), Vec::new(), Vec::new());
    let sizes = apportion(n_rows, data.cell_counts().as_flattened());
    for (cell, size) in sizes.into_iter().enumerate() {
        if size == 0 {
            continue;
        }
        let (group, y) = (cell / 2, cell % 2 == 1);
        let own = Moments::of(data, |i| data.group(i) == group && data.is_positive(i) == y);
        let gaussian = Gaussian::new(own.shrunk_towards(&everyone))?;
        for _ in 0..size {
            x.extend(gaussian.sample(varying, &mut rng));
            groups.push(group as u8);
            positive.push(y);
        }
    }
    Rows::new(data.layout().clone(), &x, &groups, &positive)
}

/// Divides `n_rows` in proportion to `counts` by the largest remainder method.
pub(super) fn apportion(n_rows: usize, counts: &[usize]) -> Vec<usize> {
    let all: usize = counts.iter().sum();
    let product = |count: usize| n_rows as u128 * count as u128;
    let mut shares: Vec<usize> =
        counts.iter().map(|&count| (product(count) / all as u128) as usize).collect();
    let mut by_remainder: Vec<usize> = (0..counts.len()).collect();
    by_remainder.sort_by_key(|&cell| std::cmp::Reverse(product(counts[cell]) % all as u128));
    let left = n_rows - shares.iter().sum::<usize>();
    by_remainder.iter().take(left).for_each(|&cell| shares[cell] += 1);
    shares
}

/// Number, mean and covariance (lower triangle) of the features of some rows.
pub(super) struct Moments {
    pub(super) n_rows: f64,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Vec<f64>,
}

impl Moments {
    pub(super) fn of(data: &Rows, is_member: impl Fn(usize) -> bool) -> Self {
        let n_x = data.layout().n_x;
        let members: Vec<usize> = (0..data.len()).filter(|&i| is_member(i)).collect();
        let n_rows = members.len() as f64;
        let mut mean = vec![0.0; n_x];
        for &i in &members {
            mean.iter_mut().zip(data.x(i)).for_each(|(m, v)| *m += v / n_rows);
        }
        let mut covariance = vec![0.0; triangle(n_x)];
        for &i in &members {
            let centred: Vec<f64> = data.x(i).iter().zip(&mean).map(|(v, m)| v - m).collect();
            add_outer_product(&mut covariance, 1.0 / n_rows, &centred);
        }
        Self { n_rows, mean, covariance }
    }

    pub(super) fn shrunk_towards(mut self, everyone: &Self) -> Self {
        let own = self.n_rows / (self.n_rows + PRIOR_ROWS);
        let blend = |mine: &mut [f64], all: &[f64]| {
            mine.iter_mut().zip(all).for_each(|(m, a)| *m = own * *m + (1.0 - own) * a);
        };
        blend(&mut self.mean, &everyone.mean);
        blend(&mut self.covariance, &everyone.covariance);
        self
    }
}

pub(super) struct Gaussian {
    pub(super) mean: Vec<f64>,
    /// The covariance is `L Lᵀ`; `L` row by row.
    pub(super) lower: Vec<Vec<f64>>,
}

impl Gaussian {
    pub(super) fn new(moments: Moments) -> Result<Self, Error> {
        let n = moments.mean.len();
        let lower = if moments.covariance.iter().all(|&v| v == 0.0) {
            vec![Vec::new(); n]
        } else {
            Cholesky::new(&moments.covariance, n, 0.0)?.lower()
        };
        Ok(Self { mean: moments.mean, lower })
    }

    /// A sample. The projection removes the rounding error in the factor of a singular covariance.
    fn sample(&self, varying: &RangeProjection, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let noise: Vec<f64> = self.mean.iter().map(|_| StandardNormal.sample(rng)).collect();
        let away: Vec<f64> = self.lower.iter().map(|row| dot(row, &noise)).collect();
        self.mean.iter().zip(varying.apply(&away)).map(|(mean, away)| mean + away).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_proportional_and_add_up() {
        assert_eq!(apportion(100, &[1, 1, 1, 1]), [25, 25, 25, 25]);
        assert_eq!(apportion(10, &[0, 1, 2, 0]), [0, 3, 7, 0]);
        assert_eq!(apportion(3, &[5, 5, 5, 5]).iter().sum::<usize>(), 3);
        assert_eq!(apportion(0, &[5, 5]), [0, 0]);
    }
}
