//! Soft decisions `σ(k a·θ)` summed over each cell of the data: one group and label.

use super::super::blocks::{add, map_blocks};
use crate::fairness::Condition;
use crate::logistic::{dot, loss_terms};
use crate::rows::Rows;

/// Sums of soft decisions by cell.
pub(super) struct CellRates {
    n: usize,
    /// For each group and label: number of rows, sum of decisions, gradient of that sum.
    sums: Vec<f64>,
}

/// The mean soft decision of some rows, and its gradient in `θ`.
pub(super) struct SoftRate {
    pub(super) value: f64,
    pub(super) slope: Vec<f64>,
}

impl CellRates {
    /// One pass over `data`.
    pub(super) fn at(data: &Rows, slope: f64, theta: &[f64]) -> Self {
        let n = theta.len();
        let stride = 2 + n;
        let mut sums = vec![0.0; 2 * data.layout().groups.len() * stride];
        let blocks = map_blocks(data.len(), |range| {
            let mut own = vec![0.0; sums.len()];
            for i in range {
                let a = data.a(i);
                let terms = loss_terms(-slope * dot(a, theta));
                let cell = 2 * data.group(i) + usize::from(data.is_positive(i));
                let cell = &mut own[cell * stride..(cell + 1) * stride];
                cell[0] += 1.0;
                cell[1] += terms.residual;
                let steepness = slope * terms.curvature;
                cell[2..].iter_mut().zip(a).for_each(|(sum, v)| *sum += steepness * v);
            }
            own
        });
        blocks.iter().for_each(|own| add(&mut sums, own));
        Self { n, sums }
    }

    /// The rate of one group among the rows of a condition, or that of all groups. `None` if there are no such rows.
    pub(super) fn rate(&self, group: Option<usize>, condition: Condition) -> Option<SoftRate> {
        let mut sum = vec![0.0; 2 + self.n];
        for (cell, own) in self.sums.chunks_exact(2 + self.n).enumerate() {
            let counts = group.is_none_or(|group| group == cell / 2);
            if counts && condition.includes(cell % 2 == 1) {
                add(&mut sum, own);
            }
        }
        let rows = sum[0];
        (rows > 0.0).then(|| SoftRate {
            value: sum[1] / rows,
            slope: sum[2..].iter().map(|s| s / rows).collect(),
        })
    }
}
