//! The state of the generator, and its steps.

use super::{ProxySettings, ProxySolver, rows_step};
use crate::adam::Adam;
use crate::client_rows::ClientRows;
use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Violation};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, ridge};
use crate::linalg::{Cholesky, RangeProjection, norm};
use crate::logistic::dot;
use crate::newton::{SUFFICIENT_DECREASE, backtrack};
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Predicted decrease of `F`, relative to `F`, at or below which a ρ has converged.
const RELATIVE_DECREASE: f64 = 1e-9;

/// Maximum number of step lengths that one step tries.
const MAX_TRIALS: usize = 20;

/// The current rows and their model.
pub(super) struct Generator {
    data: ClientRows,
    covariance: Covariance,
    fairness: Fairness,
    ridge: f64,
    proxy: ClientRows,
    current: Measured,
    adam: Option<(Adam, f64)>,
    /// The directions in which rows may move.
    varying: RangeProjection,
    /// Whether the last ρ ended because the line search failed.
    stuck: bool,
}

/// A proxy's model, and that model on the client's data.
struct Measured {
    point: FitPoint,
    loss: f64,
    violation: Violation,
}

impl Generator {
    pub(super) fn new(
        data: &Rows,
        start: Rows,
        varying: RangeProjection,
        settings: &ProxySettings,
    ) -> Result<Self, Error> {
        let proxy = ClientRows::new(vec![start])?;
        let covariance = Covariance::of(data);
        let data = ClientRows::new(vec![data.clone()])?;
        let ridge = ridge(settings.lambda, proxy.n());
        let origin = FitPoint::origin(&proxy)?;
        let current = measure(&proxy, origin, &data, &covariance, ridge)?;
        let fairness = settings.fairness;
        let n_variables = proxy.n_rows_total() * proxy.layout().n_x;
        let adam = match settings.solver {
            ProxySolver::SmallestMove => None,
            ProxySolver::Adam => Some((Adam::new(n_variables), settings.learning_rate)),
        };
        Ok(Self { data, covariance, fairness, ridge, proxy, current, adam, varying, stuck: false })
    }

    /// Size of the violation on the data.
    pub(super) fn size(&self) -> f64 {
        self.current.violation.size(self.fairness)
    }

    /// `F` at this ρ.
    pub(super) fn value(&self, rho: f64) -> f64 {
        self.current.value(self.fairness, rho)
    }

    /// Whether the last ρ ended because the line search failed. Resets it.
    pub(super) fn was_stuck(&mut self) -> bool {
        std::mem::take(&mut self.stuck)
    }

    /// Mean loss on the data.
    pub(super) fn loss(&self) -> f64 {
        self.current.loss
    }

    /// Both covariances on the data.
    pub(super) fn violations(&self) -> Violation {
        self.current.violation
    }

    /// The rows and their model.
    pub(super) fn into_proxy(self) -> (Rows, Vec<f64>) {
        (self.proxy.clients()[0].clone(), self.current.point.theta)
    }

    /// One step at this ρ. `false` if none is left.
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
        let point = &self.current.point;
        let statistics = self.data.evaluate(&point.theta, Order::Gradient)?;
        let slope = self.outer_gradient(&statistics, rho);
        let inner = InnerProblem { rows: &self.proxy, weights: &[1.0], ridge: self.ridge };
        let v = inner.factor(&inner.hessian(&point.statistics))?.solve(&slope);
        let gradient = rows_step::row_gradients(&self.proxy.clients()[0], &point.theta, &v);
        self.proxy.update(0, |rows| {
            let n_x = rows.layout().n_x;
            let mut x: Vec<f64> = (0..rows.len()).flat_map(|j| rows.x(j).to_vec()).collect();
            adam.step(&mut x, &gradient, learning_rate);
            for (j, moved) in x.chunks_exact(n_x).enumerate() {
                rows.x_mut(j).copy_from_slice(moved);
            }
        });
        let start = FitPoint::at(&self.proxy, self.current.point.theta.clone())?;
        self.current = measure(&self.proxy, start, &self.data, &self.covariance, self.ridge)?;
        Ok(adam)
    }

    /// `∇F`, from the statistics of the data at the current model.
    fn outer_gradient(&self, statistics: &Statistics, rho: f64) -> Vec<f64> {
        let n_rows = self.data.n_rows_total() as f64;
        let mut gradient: Vec<f64> = statistics.gradient(0).iter().map(|g| g / n_rows).collect();
        self.covariance.add_penalty_gradient(
            self.current.violation,
            self.fairness,
            rho,
            &mut gradient,
        );
        gradient
    }

    /// A Newton step of the model, realised by the smallest move of the rows.
    fn smallest_step(&mut self, rho: f64) -> Result<bool, Error> {
        let theta = &self.current.point.theta;
        let n = theta.len();
        let statistics = self.data.evaluate(theta, Order::Hessian)?;
        let n_rows = self.data.n_rows_total() as f64;

        // F is convex in θ, so the Newton step in θ is a descent direction.
        let gradient = self.outer_gradient(&statistics, rho);
        let mut hessian: Vec<f64> = statistics.hessians.iter().map(|h| h / n_rows).collect();
        self.covariance.add_penalty_hessian(self.fairness, rho, &mut hessian);
        let newton: Vec<f64> =
            Cholesky::new(&hessian, n, self.ridge)?.solve(&gradient).iter().map(|s| -s).collect();
        let slope = dot(&gradient, &newton);

        let before = self.value(rho);
        if -slope <= RELATIVE_DECREASE * before || norm(&newton) == 0.0 {
            return Ok(false);
        }
        let (point, varying) = (&self.current.point, &self.varying);
        let step = rows_step::smallest_step(&self.proxy, point, &newton, self.ridge, varying)?;
        let rows = self.proxy.clients()[0].clone();
        let accepted = backtrack(MAX_TRIALS, |length| {
            let (theta, varying) = (&self.current.point.theta, &self.varying);
            self.proxy.update(0, |into| {
                rows_step::move_rows(&rows, into, theta, &step, length, varying);
            });
            let start = FitPoint::at(&self.proxy, self.current.point.theta.clone())?;
            let trial = measure(&self.proxy, start, &self.data, &self.covariance, self.ridge)?;
            let limit = before + SUFFICIENT_DECREASE * length * slope;
            Ok((trial.value(self.fairness, rho) <= limit).then_some(trial))
        })?;
        if let Some(accepted) = accepted {
            self.current = accepted;
            return Ok(true);
        }
        self.proxy.update(0, |into| *into = rows);
        self.stuck = true;
        Ok(false)
    }
}

impl Measured {
    fn value(&self, fairness: Fairness, rho: f64) -> f64 {
        self.loss + 0.5 * rho * self.violation.squared(fairness)
    }
}

/// Fits the proxy's model from `start` and measures it on the data.
fn measure(
    proxy: &ClientRows,
    start: FitPoint,
    data: &ClientRows,
    covariance: &Covariance,
    ridge: f64,
) -> Result<Measured, Error> {
    let problem = InnerProblem { rows: proxy, weights: &[1.0], ridge };
    let settings = InnerSettings { tolerance: 1e-9, ..InnerSettings::default() };
    let point = problem.fit(start, &settings)?.point;
    let loss = data.evaluate(&point.theta, Order::Loss)?.losses[0] / data.n_rows_total() as f64;
    let violation = covariance.violation(&point.theta);
    Ok(Measured { point, loss, violation })
}
