//! The trusted root, and the outer objective `F` measured on it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Violation};
use crate::linalg::symmetric_entry;
use crate::logistic::dot;
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, triangle};

/// How the clients' root rows are weighted in the outer objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RootWeighting {
    /// Every root row counts the same, so the weights act only through the model. The default.
    #[default]
    Pooled,
    /// The root rows of client `c` have weight `w_c`, as in the paper's formula read literally. The weights can then
    /// lower the penalty by choosing root rows instead of making the model fair.
    Client,
}

/// The trusted rows of each client.
#[derive(Debug, Clone)]
pub struct Root {
    tables: Vec<Rows>,
    packed: PackedRows,
    covariances: Vec<Covariance>,
    /// The rows of all clients in one table, for [`RootWeighting::Pooled`].
    pooled: PackedRows,
    pooled_covariance: Covariance,
    n_rows: f64,
}

impl Root {
    /// The root rows of all clients in one table.
    pub fn all_rows(&self) -> Result<Rows, Error> {
        Rows::concat(&self.tables)
    }

    /// The root rows of each client, in the order of the clients. A client may have none, but both groups must occur.
    pub fn new(tables: Vec<Rows>) -> Result<Self, Error> {
        let packed = PackedRows::unmerged(&tables)?;
        let n_rows = packed.n_rows_total();
        let privileged = tables.iter().flat_map(|rows| rows.cell_counts()[1]).sum::<usize>();
        if privileged == 0 || privileged == n_rows {
            return Err(Error::RootGroup { rows: n_rows, privileged });
        }
        let covariances = Covariance::parts(&tables);
        let pooled = PackedRows::merged(&[Rows::concat(&tables)?])?;
        let pooled_covariance = Covariance::sum(&covariances);
        let n_rows = n_rows as f64;
        Ok(Self { tables, packed, covariances, pooled, pooled_covariance, n_rows })
    }

    /// The root rows of each client.
    pub fn tables(&self) -> &[Rows] {
        &self.tables
    }

    /// The root rows of each client, packed.
    pub(crate) fn packed(&self) -> &PackedRows {
        &self.packed
    }

    /// Number of rows of all clients.
    pub(crate) fn n_rows(&self) -> f64 {
        self.n_rows
    }

    /// Rejects a root on which the requested fairness cannot be measured.
    pub(crate) fn check(&self, fairness: Fairness) -> Result<(), Error> {
        let positives = |group: usize| -> usize {
            self.tables.iter().map(|rows| rows.cell_counts()[group][1]).sum()
        };
        if fairness.includes_eo() && (positives(0) == 0 || positives(1) == 0) {
            return Err(Error::RootPositives { privileged: positives(1), others: positives(0) });
        }
        Ok(())
    }
}

/// `F(θ, w) = root loss + (λ/2n²)‖θ‖² + (ρ/2) violation²`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OuterObjective<'a> {
    /// The rows it is measured on.
    pub root: &'a Root,
    /// The violation that is penalised.
    pub fairness: Fairness,
    /// How the clients' root rows are weighted.
    pub weighting: RootWeighting,
    /// `λ/n²`.
    pub ridge: f64,
}

/// `F` and its derivatives at one `(θ, w)`.
#[derive(Debug, Clone)]
pub(crate) struct OuterValue {
    /// `F`.
    pub value: f64,
    /// The root loss.
    pub loss: f64,
    /// Both covariances on the root.
    pub violation: Violation,
    /// `∂F/∂θ`.
    pub gradient_theta: Vec<f64>,
    /// `∂F/∂w` at fixed `θ`: all 0 for pooled root rows.
    pub gradient_weights: Vec<f64>,
}

impl OuterObjective<'_> {
    /// `F(θ, w)` with penalty `rho`, and both partial derivatives.
    pub(crate) fn evaluate(
        &self,
        theta: &[f64],
        weights: &[f64],
        rho: f64,
    ) -> Result<OuterValue, Error> {
        let root = self.root;
        let Counted { rows, row_weights, covariance } = self.counted(weights);
        let statistics = rows.evaluate(theta, Order::Gradient)?;
        let violation = covariance.violation(theta);

        let loss = statistics.weighted_loss(row_weights) / root.n_rows;
        let penalty = 0.5 * rho * violation.squared(self.fairness);
        let value = loss + 0.5 * self.ridge * dot(theta, theta) + penalty;

        let mut gradient_theta = statistics.weighted_gradient(row_weights);
        gradient_theta
            .iter_mut()
            .zip(theta)
            .for_each(|(g, t)| *g = *g / root.n_rows + self.ridge * t);
        covariance.add_penalty_gradient(violation, self.fairness, rho, &mut gradient_theta);

        let gradient_weights = match self.weighting {
            RootWeighting::Pooled => vec![0.0; weights.len()],
            RootWeighting::Client => {
                let nu = self.fairness.nu();
                let of_client = |(part, loss): (&Covariance, f64)| {
                    let own = part.violation(theta);
                    let slope = (1.0 - nu) * violation.sp * own.sp + nu * violation.eo * own.eo;
                    loss / root.n_rows + rho * slope
                };
                root.covariances.iter().zip(statistics.losses()).map(of_client).collect()
            }
        };
        Ok(OuterValue { value, loss, violation, gradient_theta, gradient_weights })
    }

    /// `∂²F/∂θ²`, all `n × n` entries row by row.
    pub(crate) fn hessian(
        &self,
        theta: &[f64],
        weights: &[f64],
        rho: f64,
    ) -> Result<Vec<f64>, Error> {
        let lower = self.lower_hessian(theta, weights, rho)?;
        let n = theta.len();
        Ok((0..n * n).map(|at| symmetric_entry(&lower, at / n, at % n)).collect())
    }

    /// `∂²F/∂θ²`, the lower triangle row by row.
    pub(crate) fn lower_hessian(
        &self,
        theta: &[f64],
        weights: &[f64],
        rho: f64,
    ) -> Result<Vec<f64>, Error> {
        let Counted { rows, row_weights, covariance } = self.counted(weights);
        let statistics = rows.evaluate(theta, Order::Hessian)?;
        let mut lower = statistics.weighted_hessian(row_weights);
        lower.iter_mut().for_each(|h| *h /= self.root.n_rows);
        covariance.add_penalty_hessian(self.fairness, rho, &mut lower);
        (0..theta.len()).for_each(|i| lower[triangle(i + 1) - 1] += self.ridge);
        Ok(lower)
    }

    /// The root rows and their weights.
    fn counted<'b>(&'b self, weights: &'b [f64]) -> Counted<'b> {
        let root = self.root;
        match self.weighting {
            RootWeighting::Pooled => Counted {
                rows: &root.pooled,
                row_weights: &[1.0],
                covariance: Cow::Borrowed(&root.pooled_covariance),
            },
            RootWeighting::Client => Counted {
                rows: &root.packed,
                row_weights: weights,
                covariance: Cow::Owned(Covariance::weighted_sum(&root.covariances, weights)),
            },
        }
    }
}

/// Tables of root rows, the weight of each, and their total covariance.
struct Counted<'a> {
    rows: &'a dyn ClientStatistics,
    row_weights: &'a [f64],
    covariance: Cow<'a, Covariance>,
}
