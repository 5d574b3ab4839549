//! The search for rows whose model minimises the paper's objective: its state and its steps.

use std::slice;

use super::super::{ProxySettings, ProxySolver, rows_step};
use crate::adam::Adam;
use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Penalty, Violation};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, ridge};
use crate::linalg::{Cholesky, RangeProjection, norm};
use crate::logistic::dot;
use crate::newton::{SUFFICIENT_DECREASE, backtrack};
use crate::packed_rows::PackedRows;
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Predicted decrease of `F`, relative to `F`, at or below which a ρ has converged.
const RELATIVE_DECREASE: f64 = 1e-9;

/// Maximum number of step lengths that one step tries.
const MAX_TRIALS: usize = 20;

/// The current proxy, and everything needed to measure it.
pub(super) struct Search {
    data: PackedRows,
    covariance: Covariance,
    fairness: Fairness,
    penalty: Penalty,
    ridge: f64,
    current: Measured,
    adam: Option<(Adam, f64)>,
    /// The directions in which rows may move.
    varying: RangeProjection,
    /// Whether the last ρ ended because the line search failed.
    stuck: bool,
}

/// Proxy rows, their model, and that model on the client's data.
struct Measured {
    rows: Rows,
    packed: PackedRows,
    point: FitPoint,
    loss: f64,
    /// The covariances on the data.
    contrasts: Vec<f64>,
}

impl Search {
    pub(super) fn new(
        data: &Rows,
        start: Rows,
        varying: RangeProjection,
        settings: &ProxySettings,
    ) -> Result<Self, Error> {
        let covariance = Covariance::of(data);
        let layout = data.layout();
        let penalty = Penalty::new(settings.fairness, layout.groups.len());
        let data = PackedRows::of(slice::from_ref(data))?;
        let ridge = ridge(settings.lambda, layout.n());
        let adam = match settings.solver {
            ProxySolver::SmallestMove => None,
            ProxySolver::Adam => {
                Some((Adam::new(start.len() * layout.n_x), settings.learning_rate))
            }
        };
        let current = measure(start, vec![0.0; layout.n()], &data, &covariance, ridge)?;
        let fairness = settings.fairness;
        Ok(Self {
            data,
            covariance,
            fairness,
            penalty,
            ridge,
            current,
            adam,
            varying,
            stuck: false,
        })
    }

    /// Size of the violation on the data.
    pub(super) fn size(&self) -> f64 {
        self.current.violation().size(self.fairness)
    }

    /// `F` at this ρ.
    pub(super) fn value(&self, rho: f64) -> f64 {
        self.current.value(&self.penalty, rho)
    }

    /// Whether the last ρ ended because the line search failed. Resets it.
    pub(super) fn was_stuck(&mut self) -> bool {
        std::mem::take(&mut self.stuck)
    }

    /// Mean loss on the data.
    pub(super) fn loss(&self) -> f64 {
        self.current.loss
    }

    /// The covariances on the data.
    pub(super) fn violations(&self) -> Violation {
        self.current.violation()
    }

    /// The model.
    pub(super) fn theta(&self) -> &[f64] {
        &self.current.point.theta
    }

    /// The rows and their model.
    pub(super) fn into_proxy(self) -> (Rows, Vec<f64>) {
        (self.current.rows, self.current.point.theta)
    }

    /// One step at this ρ. `false` if no further step is possible.
    pub(super) fn step(&mut self, rho: f64) -> Result<bool, Error> {
        match self.adam.take() {
            Some((adam, learning_rate)) => {
                self.adam = Some((self.adam_step(rho, adam, learning_rate)?, learning_rate));
                Ok(true)
            }
            None => self.smallest_step(rho),
        }
    }

    /// Adam on the features of all rows.
    fn adam_step(&mut self, rho: f64, mut adam: Adam, learning_rate: f64) -> Result<Adam, Error> {
        let Measured { rows, packed, point, .. } = &self.current;
        let statistics = self.data.evaluate(&point.theta, Order::Gradient)?;
        let slope = self.outer_gradient(&statistics, rho);
        let inner = InnerProblem { rows: packed, weights: &[1.0], ridge: self.ridge };
        let v = inner.factor(&inner.hessian(&point.statistics))?.solve(&slope);
        let gradient = rows_step::row_gradients(rows, &point.theta, &v);
        let mut x: Vec<f64> = (0..rows.len()).flat_map(|j| rows.x(j).to_vec()).collect();
        adam.step(&mut x, &gradient, learning_rate);
        let mut moved = rows.clone();
        for (j, x) in x.chunks_exact(rows.layout().n_x).enumerate() {
            moved.x_mut(j).copy_from_slice(x);
        }
        self.current = self.measure(moved)?;
        Ok(adam)
    }

    /// `∇F`, from the statistics of the data at the current model.
    fn outer_gradient(&self, statistics: &Statistics, rho: f64) -> Vec<f64> {
        let n_rows = self.data.n_rows_total() as f64;
        let mut gradient: Vec<f64> = statistics.gradient(0).iter().map(|g| g / n_rows).collect();
        let unfairness = self.covariance.at(&self.current.point.theta);
        self.penalty.add_gradient(&unfairness, rho, &mut gradient);
        gradient
    }

    /// A Newton step of the model, realised by the smallest move of the rows.
    fn smallest_step(&mut self, rho: f64) -> Result<bool, Error> {
        let Measured { rows, packed, point, .. } = &self.current;
        let theta = &point.theta;
        let statistics = self.data.evaluate(theta, Order::Hessian)?;
        let n_rows = self.data.n_rows_total() as f64;

        // F is convex in θ, so the Newton step in θ is a descent direction.
        let gradient = self.outer_gradient(&statistics, rho);
        let mut hessian: Vec<f64> = statistics.hessian(0).iter().map(|h| h / n_rows).collect();
        self.penalty.add_hessian(self.covariance.slopes(), rho, &mut hessian);
        let cholesky = Cholesky::new(&hessian, theta.len(), self.ridge)?;
        let newton: Vec<f64> = cholesky.solve(&gradient).iter().map(|s| -s).collect();
        let slope = dot(&gradient, &newton);

        let before = self.value(rho);
        if -slope <= RELATIVE_DECREASE * before || norm(&newton) == 0.0 {
            return Ok(false);
        }
        let inner = InnerProblem { rows: packed, weights: &[1.0], ridge: self.ridge };
        let hessian = inner.hessian(&point.statistics);
        let varying = &self.varying;
        let z = rows_step::smallest_step(rows, theta, &hessian, self.ridge, &newton, varying)?;
        let accepted = backtrack(MAX_TRIALS, |length| {
            let trial = self.measure(rows_step::moved_rows(rows, theta, &z, length, varying))?;
            let limit = before + SUFFICIENT_DECREASE * length * slope;
            Ok((trial.value(&self.penalty, rho) <= limit).then_some(trial))
        })?;
        let moved = accepted.is_some();
        self.stuck = !moved;
        if let Some(accepted) = accepted {
            self.current = accepted;
        }
        Ok(moved)
    }

    /// Measures moved rows. The fit of their model starts from the current model.
    fn measure(&self, rows: Rows) -> Result<Measured, Error> {
        let theta = self.current.point.theta.clone();
        measure(rows, theta, &self.data, &self.covariance, self.ridge)
    }
}

impl Measured {
    fn value(&self, penalty: &Penalty, rho: f64) -> f64 {
        self.loss + 0.5 * rho * penalty.squared(&self.contrasts)
    }

    fn violation(&self) -> Violation {
        Violation::of(&self.contrasts)
    }
}

/// Fits the model of proxy rows, starting from `theta`, and measures it on the data.
fn measure(
    rows: Rows,
    theta: Vec<f64>,
    data: &PackedRows,
    covariance: &Covariance,
    ridge: f64,
) -> Result<Measured, Error> {
    let packed = PackedRows::of(slice::from_ref(&rows))?;
    let problem = InnerProblem { rows: &packed, weights: &[1.0], ridge };
    let settings = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    let point = problem.fit(FitPoint::at(&packed, theta)?, &settings)?.point;
    let loss = data.evaluate(&point.theta, Order::Loss)?.weighted_loss(&[1.0])
        / data.n_rows_total() as f64;
    let contrasts = covariance.values(&point.theta);
    Ok(Measured { rows, packed, point, loss, contrasts })
}
