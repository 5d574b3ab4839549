//! What the cells of a worst gap have in common: counts of hard decisions, and means of soft scores.

use std::sync::OnceLock;

use super::bootstrap::{Cell, DRAWS, Law};
use crate::interval::mean::{PooledDispersion, mean_difference_limits};
use crate::interval::rate::newcombe_limits;
use crate::interval::{Count, Moments, normal_cdf, normal_quantile, student_t_quantile};

/// Successes, and failures, that are added to a cell before rates are drawn from it: more make the intervals of rates near 0
/// and 1 cautious, fewer make those of small cells miss more often than they should.
const ADDED: f64 = 0.125;

/// A group's figure under one condition: a [`Count`] of hard decisions or the [`Moments`] of soft scores.
pub trait GapCell: Copy {
    /// What the cells of one condition have in common.
    type Pool;
    /// Finds it.
    fn pool(cells: &[Self]) -> Self::Pool;
    /// The cell, if it has rows.
    fn checked(&self) -> Option<Self>;
    /// Rows.
    fn n(&self) -> usize;
    /// The rate or the mean.
    fn value(&self) -> f64;
    /// The squared standard error, if the rate were `value`. Never 0.
    fn error_squared(&self, value: f64) -> f64;
    /// The limits of `a − b` at a critical value of the normal distribution.
    fn difference_limits(a: Self, b: Self, pool: &Self::Pool, critical: f64) -> (f64, f64);
    /// The number of 0-or-1 rows that would say as much as this cell.
    fn information(&self, pool: &Self::Pool) -> f64;
    /// The errors that the cell's mean may have, in units of its standard error, in ascending order; `None` for counts.
    fn errors(&self, pool: &Self::Pool) -> Option<Vec<f64>>;
}

impl GapCell for Count {
    type Pool = ();

    fn pool(_: &[Self]) {}

    fn checked(&self) -> Option<Self> {
        Count::checked(self)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn value(&self) -> f64 {
        self.share()
    }

    fn error_squared(&self, value: f64) -> f64 {
        // Two successes and two failures more, as the centre of Wilson's interval has, or no success would mean
        // no error.
        let n = self.n as f64;
        let smoothed = (n * value + 2.0) / (n + 4.0);
        smoothed * (1.0 - smoothed) / n
    }

    fn difference_limits(a: Self, b: Self, (): &(), critical: f64) -> (f64, f64) {
        newcombe_limits(a, b, critical)
    }

    fn information(&self, (): &()) -> f64 {
        self.n as f64
    }

    fn errors(&self, (): &()) -> Option<Vec<f64>> {
        None
    }
}

impl GapCell for Moments {
    type Pool = PooledDispersion;

    fn pool(cells: &[Self]) -> PooledDispersion {
        PooledDispersion::of(cells)
    }

    fn checked(&self) -> Option<Self> {
        Moments::checked(self)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn value(&self) -> f64 {
        self.mean
    }

    fn error_squared(&self, _: f64) -> f64 {
        Moments::error_squared(self)
    }

    fn difference_limits(a: Self, b: Self, pool: &PooledDispersion, critical: f64) -> (f64, f64) {
        mean_difference_limits(a, b, pool, critical)
    }

    fn information(&self, pool: &PooledDispersion) -> f64 {
        self.n as f64 / pool.dispersion_of(*self).0
    }

    fn errors(&self, pool: &PooledDispersion) -> Option<Vec<f64>> {
        Some(student_errors(pool.dispersion_of(*self).1))
    }
}

pub(super) fn bootstrap_cell<C: GapCell>(cell: C, pool: &C::Pool) -> Cell {
    let (n, information) = (cell.n() as f64, cell.information(pool));
    // Added rows weigh as much as the cell's own.
    let added = ADDED * n / information;
    Cell {
        value: cell.value(),
        smoothed: (n * cell.value() + added) / (n + 2.0 * added),
        information,
        law: cell.errors(pool).map_or(Law::Binomial(cell.n()), Law::Scaled),
    }
}

/// Quantiles of Student's t at the midpoints of [`DRAWS`] equally likely strata, interpolated between normal scores that
/// are 0.1 apart.
fn student_errors(freedom: f64) -> Vec<f64> {
    static NORMAL: OnceLock<Vec<f64>> = OnceLock::new();
    let normal = NORMAL.get_or_init(|| {
        (0..DRAWS).map(|at| normal_quantile((at as f64 + 0.5) / DRAWS as f64)).collect()
    });
    let nodes: Vec<f64> =
        (0..=40).map(|z| student_t_quantile(normal_cdf(f64::from(z) / 10.0), freedom)).collect();
    let student = |z: f64| {
        let position = 10.0 * z.abs();
        let node = (position as usize).min(nodes.len() - 2);
        let rest = position - node as f64;
        z.signum() * (nodes[node] * (1.0 - rest) + nodes[node + 1] * rest)
    };
    normal.iter().map(|&z| student(z)).collect()
}
