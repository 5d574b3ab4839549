//! A Gaussian density of the features of each group.

use super::super::start::Moments;
use crate::error::Error;
use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::rows::Rows;

/// Added to the diagonal of a covariance, as a share of its mean: indicators of levels depend on each other.
const RIDGE: f64 = 1e-3;

/// The density of each group with at least one row.
pub(super) struct Densities(Vec<Option<Density>>);

struct Density {
    mean: Vec<f64>,
    factor: Cholesky,
    log_determinant: f64,
    log_share: f64,
}

impl Densities {
    pub(super) fn of(rows: &Rows) -> Result<Self, Error> {
        let everyone = Moments::of(rows, |_| true);
        let density = |group: usize| {
            let own = Moments::of(rows, |i| rows.group(i) == group);
            if own.n_rows == 0.0 {
                return Ok(None);
            }
            let log_share = (own.n_rows / rows.len() as f64).ln();
            Density::new(own.shrunk_towards(&everyone), log_share).map(Some)
        };
        let densities = (0..rows.layout().groups.len()).map(density);
        Ok(Self(densities.collect::<Result<_, _>>()?))
    }

    /// The log-density of features among the rows of a group. `None` if there are none.
    pub(super) fn log_density(&self, x: &[f64], group: usize) -> Option<f64> {
        self.0[group].as_ref().map(|density| density.log_at(x))
    }

    /// The likeliest group of someone with these features.
    pub(super) fn likeliest_group(&self, x: &[f64]) -> Option<usize> {
        let known = self.0.iter().enumerate();
        let known = known.filter_map(|(group, d)| Some((group, d.as_ref()?)));
        known
            .map(|(group, density)| (group, density.log_share + density.log_at(x)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(group, _)| group)
    }
}

impl Density {
    fn new(moments: Moments, log_share: f64) -> Result<Self, Error> {
        let n = moments.mean.len();
        let trace: f64 = (0..n).map(|i| moments.covariance[i * (i + 1) / 2 + i]).sum();
        let ridge = (RIDGE * trace / n.max(1) as f64).max(1e-9);
        let factor = Cholesky::new(&moments.covariance, n, ridge)?;
        let diagonal = factor.lower();
        let log_determinant = diagonal.iter().filter_map(|row| row.last()).map(|l| l.ln()).sum();
        Ok(Self { mean: moments.mean, factor, log_determinant, log_share })
    }

    fn log_at(&self, x: &[f64]) -> f64 {
        let away: Vec<f64> = x.iter().zip(&self.mean).map(|(v, m)| v - m).collect();
        -0.5 * dot(&away, &self.factor.solve(&away)) - self.log_determinant
    }
}
