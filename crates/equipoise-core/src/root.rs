//! The trusted root, and the outer objective `F` measured on it.

use std::slice;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fairness::{Condition, Covariance, Fairness, Penalty, Unfairness, Violation};
use crate::linalg::symmetric_entry;
use crate::logistic::dot;
use crate::packed_rows::PackedRows;
use crate::rows::{Layout, Rows};
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

/// The trusted rows: those of each client, and those of which nobody says whose they are.
#[derive(Debug)]
pub struct Root {
    tables: Vec<Rows>,
    unassigned: Option<Rows>,
    /// The rows of each client, then the unassigned ones.
    packed: PackedRows,
    covariances: Vec<Covariance>,
    /// All rows in one table, for [`RootWeighting::Pooled`].
    pooled: PackedRows,
    pooled_covariance: Covariance,
    n_rows: f64,
}

impl Root {
    /// All rows in one table: those of each client in their order, then the unassigned ones.
    pub fn all_rows(&self) -> Result<Rows, Error> {
        Rows::concat(&self.parts())
    }

    /// The client of each row of [`all_rows`](Self::all_rows).
    pub fn clients_of_rows(&self) -> Vec<Option<usize>> {
        let of_client = |(client, rows): (usize, &Rows)| vec![Some(client); rows.len()];
        let mut clients: Vec<_> = self.tables.iter().enumerate().flat_map(of_client).collect();
        clients.resize(clients.len() + self.unassigned().map_or(0, Rows::len), None);
        clients
    }

    /// The root rows of each client, in the order of the clients. A client may have none, but at least two groups must
    /// occur.
    pub fn new(tables: Vec<Rows>) -> Result<Self, Error> {
        Self::with_unassigned(tables, None)
    }

    /// Like [`new`](Self::new), with rows of which nobody says whose they are.
    pub fn with_unassigned(tables: Vec<Rows>, unassigned: Option<Rows>) -> Result<Self, Error> {
        let unassigned = unassigned.filter(|rows| !rows.is_empty());
        let parts: Vec<&Rows> = tables.iter().chain(&unassigned).collect();
        let packed = PackedRows::of(&parts)?;
        let n_rows = packed.n_rows_total();
        let all = Rows::concat(&parts)?;
        if let Some(group) = all.only_group() {
            let group = all.layout().groups.name(group).to_owned();
            return Err(Error::RootGroup { rows: n_rows, group });
        }
        let covariances = Covariance::parts(&parts);
        let pooled = PackedRows::of(slice::from_ref(&all))?;
        let pooled_covariance = Covariance::sum(&covariances);
        let n_rows = n_rows as f64;
        Ok(Self { tables, unassigned, packed, covariances, pooled, pooled_covariance, n_rows })
    }

    /// The root with an intercept, if a model has one that the layout lacks.
    pub(crate) fn extended_for(&self, theta: &[f64]) -> Result<Option<Self>, Error> {
        if theta.len() == self.layout().n() {
            return Ok(None);
        }
        let tables: Result<_, Error> = self.tables.iter().map(Rows::with_intercept).collect();
        Self::new(tables?).map(Some)
    }

    /// The root rows of each client.
    pub fn tables(&self) -> &[Rows] {
        &self.tables
    }

    /// The rows of which nobody says whose they are, if there are any.
    pub fn unassigned(&self) -> Option<&Rows> {
        self.unassigned.as_ref()
    }

    fn parts(&self) -> Vec<&Rows> {
        self.tables.iter().chain(&self.unassigned).collect()
    }

    /// The root rows of each client, packed, then the unassigned ones.
    pub(crate) fn packed(&self) -> &PackedRows {
        &self.packed
    }

    /// Number of all rows.
    pub(crate) fn n_rows(&self) -> f64 {
        self.n_rows
    }

    /// The layout of all rows.
    pub fn layout(&self) -> &Layout {
        self.tables[0].layout()
    }

    /// Rejects a root on which the requested fairness cannot be measured.
    pub(crate) fn check(&self, fairness: Fairness) -> Result<(), Error> {
        let Some(missing) = unmeasurable(&self.all_rows()?, fairness) else { return Ok(()) };
        let Unmeasurable { criterion, label, found } = missing;
        Err(Error::RootCondition { criterion, label, found })
    }

    /// Rejects unassigned rows where the weight of a row is that of its client.
    pub(crate) fn check_clients(&self, weighting: RootWeighting) -> Result<(), Error> {
        match (weighting, self.unassigned()) {
            (RootWeighting::Client, Some(unassigned)) => {
                let rows = self.n_rows as usize;
                Err(Error::UnassignedRows { unassigned: unassigned.len(), rows })
            }
            _ => Ok(()),
        }
    }
}

/// Why a requested rate cannot be compared on some rows.
pub(crate) struct Unmeasurable {
    pub(crate) criterion: String,
    pub(crate) label: &'static str,
    pub(crate) found: String,
}

/// Whether fewer than two groups have rows of a condition that counts.
pub(crate) fn unmeasurable(rows: &Rows, fairness: Fairness) -> Option<Unmeasurable> {
    let (cells, groups) = (rows.cell_counts(), &rows.layout().groups);
    fairness.conditions().find_map(|(condition, _)| {
        let (label, class) = match condition {
            Condition::All => return None,
            Condition::Positives => ("positive", 1),
            Condition::Negatives => ("negative", 0),
        };
        if cells.iter().filter(|cell| cell[class] > 0).count() >= 2 {
            return None;
        }
        let count = |(name, cell): (&String, &[usize; 2])| format!("{} in `{name}`", cell[class]);
        let found: Vec<String> = groups.names().iter().zip(&cells).map(count).collect();
        Some(Unmeasurable { criterion: fairness.to_string(), label, found: found.join(", ") })
    })
}

/// `F(θ, w) = root loss + (λ/2n²)‖θ‖² + (ρ/2) violation²`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OuterObjective<'a> {
    /// The rows it is measured on.
    pub root: &'a Root,
    /// The fairness that the penalty requires.
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
    /// How far the model is from fair on the root.
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
        let (rows, row_weights) = self.counted(weights);
        let statistics = rows.evaluate(theta, Order::Gradient)?;
        let penalty = self.penalty();
        let unfairness = self.unfairness(theta, weights);

        let loss = statistics.weighted_loss(row_weights) / root.n_rows;
        let penalised = 0.5 * rho * penalty.squared(&unfairness.values);
        let value = loss + 0.5 * self.ridge * dot(theta, theta) + penalised;

        let mut gradient_theta = statistics.weighted_gradient(row_weights);
        gradient_theta
            .iter_mut()
            .zip(theta)
            .for_each(|(g, t)| *g = *g / root.n_rows + self.ridge * t);
        penalty.add_gradient(&unfairness, rho, &mut gradient_theta);

        let gradient_weights = match self.weighting {
            RootWeighting::Pooled => vec![0.0; weights.len()],
            RootWeighting::Client => {
                let of_client = |(own, loss): (Vec<f64>, f64)| {
                    loss / root.n_rows + rho * penalty.product(&unfairness.values, &own)
                };
                let by_weight = root.covariances.iter().map(|part| part.values(theta));
                by_weight.zip(statistics.losses()).map(of_client).collect()
            }
        };
        let violation = Violation::of(&unfairness.values);
        Ok(OuterValue { value, loss, violation, gradient_theta, gradient_weights })
    }

    /// `∂²F/∂θ²`: all `n × n` entries row by row.
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

    /// The lower triangle of the same matrix, row by row.
    pub(crate) fn lower_hessian(
        &self,
        theta: &[f64],
        weights: &[f64],
        rho: f64,
    ) -> Result<Vec<f64>, Error> {
        let (rows, row_weights) = self.counted(weights);
        let statistics = rows.evaluate(theta, Order::Hessian)?;
        let mut lower = statistics.weighted_hessian(row_weights);
        lower.iter_mut().for_each(|h| *h /= self.root.n_rows);
        self.penalty().add_hessian(&self.unfairness(theta, weights).slopes, rho, &mut lower);
        (0..theta.len()).for_each(|i| lower[triangle(i + 1) - 1] += self.ridge);
        Ok(lower)
    }

    fn penalty(&self) -> Penalty {
        Penalty::new(self.fairness, self.root.layout().groups.len())
    }

    /// The contrasts of the model on the root.
    fn unfairness(&self, theta: &[f64], weights: &[f64]) -> Unfairness<'_> {
        let root = self.root;
        match self.weighting {
            RootWeighting::Pooled => root.pooled_covariance.at(theta),
            RootWeighting::Client => {
                Covariance::weighted_sum(&root.covariances, weights).into_unfairness(theta)
            }
        }
    }

    /// The root rows and their weights.
    fn counted<'b>(&'b self, weights: &'b [f64]) -> (&'b dyn ClientStatistics, &'b [f64]) {
        match self.weighting {
            RootWeighting::Pooled => (&self.root.pooled, &[1.0]),
            RootWeighting::Client => (&self.root.packed, weights),
        }
    }
}
