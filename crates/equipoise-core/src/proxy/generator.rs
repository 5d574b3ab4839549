//! The proxy rows on their way, and the steps that they take.

use super::start::varying_directions;
use super::{ProxySettings, ProxySolver, rows_step};
use crate::adam::Adam;
use crate::client_rows::ClientRows;
use crate::error::Error;
use crate::fairness::{Covariance, Fairness, Violation};
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, ridge};
use crate::linalg::{Cholesky, RangeProjection, norm};
use crate::logistic::dot;
use crate::newton::{Objective, SUFFICIENT_DECREASE, backtrack};
use crate::rows::Rows;
use crate::statistics::{ClientStatistics, Order, Statistics};

/// Decrease of `F` that a step promises, relative to `F`, below which a ρ is done.
const RELATIVE_DECREASE: f64 = 1e-9;

/// Step lengths that one step tries.
const MAX_TRIALS: usize = 20;

/// The rows as they are now, with what is known about them.
pub(super) struct Generator {
    data: ClientRows,
    covariance: Covariance,
    fairness: Fairness,
    ridge: f64,
    proxy: ClientRows,
    at: Measured,
    adam: Option<(Adam, f64)>,
    /// The directions in which rows may move.
    varying: RangeProjection,
    /// Whether the last ρ ended because no step descended, although one should have.
    stuck: bool,
}

/// A proxy's model, and that model on the client's data.
struct Measured {
    point: FitPoint,
    loss: f64,
    violation: Violation,
}

impl Generator {
    pub(super) fn new(data: &Rows, start: Rows, settings: &ProxySettings) -> Result<Self, Error> {
        let proxy = ClientRows::new(vec![start])?;
        let covariance = Covariance::of(data);
        let varying = varying_directions(data);
        let data = ClientRows::new(vec![data.clone()])?;
        let ridge = ridge(settings.lambda, proxy.n());
        let origin = FitPoint::origin(&proxy)?;
        let at = measure(&proxy, origin, &data, &covariance, ridge)?;
        let fairness = settings.fairness;
        let n_variables = proxy.n_rows_total() * proxy.layout().n_x;
        let adam = match settings.solver {
            ProxySolver::SmallestMove => None,
            ProxySolver::Adam => Some((Adam::new(n_variables), settings.learning_rate)),
        };
        Ok(Self { data, covariance, fairness, ridge, proxy, at, adam, varying, stuck: false })
    }

    /// Size of the violation on the data.
    pub(super) fn size(&self) -> f64 {
        self.at.violation.size(self.fairness)
    }

    /// `F` at this ρ.
    pub(super) fn value(&self, rho: f64) -> f64 {
        self.at.value(self.fairness, rho)
    }

    /// Whether the last ρ ended because no step descended; forgets it.
    pub(super) fn was_stuck(&mut self) -> bool {
        std::mem::take(&mut self.stuck)
    }

    /// Mean loss on the data.
    pub(super) fn loss(&self) -> f64 {
        self.at.loss
    }

    /// Both covariances on the data.
    pub(super) fn violations(&self) -> Violation {
        self.at.violation
    }

    /// The rows, and the model that they give.
    pub(super) fn into_proxy(self) -> (Rows, Vec<f64>) {
        (self.proxy.clients()[0].clone(), self.at.point.theta)
    }

    /// One step at this ρ; `false` where there is none left to take.
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
        let point = &self.at.point;
        let statistics = self.data.evaluate(&point.theta, Order::Gradient)?;
        let slope = self.outer_gradient(&statistics, rho);
        let inner = InnerProblem { rows: &self.proxy, weights: &[1.0], ridge: self.ridge };
        let v = inner.hessian_factor(point)?.solve(&slope);
        let gradient = rows_step::row_gradients(&self.proxy.clients()[0], &point.theta, &v);
        self.proxy.update(0, |rows| {
            let n_x = rows.layout().n_x;
            let mut x: Vec<f64> = (0..rows.len()).flat_map(|j| rows.x(j).to_vec()).collect();
            adam.step(&mut x, &gradient, learning_rate);
            for (j, moved) in x.chunks_exact(n_x).enumerate() {
                rows.x_mut(j).copy_from_slice(moved);
            }
        });
        let start = FitPoint::at(&self.proxy, self.at.point.theta.clone())?;
        self.at = measure(&self.proxy, start, &self.data, &self.covariance, self.ridge)?;
        Ok(adam)
    }

    /// `∇F`, from the statistics of the data at the model.
    fn outer_gradient(&self, statistics: &Statistics, rho: f64) -> Vec<f64> {
        let n_rows = self.data.n_rows_total() as f64;
        let mut gradient: Vec<f64> = statistics.gradient(0).iter().map(|g| g / n_rows).collect();
        self.covariance.add_penalty_gradient(self.at.violation, self.fairness, rho, &mut gradient);
        gradient
    }

    /// Newton's step of the model, brought about by the smallest move of the rows.
    fn smallest_step(&mut self, rho: f64) -> Result<bool, Error> {
        let theta = &self.at.point.theta;
        let n = theta.len();
        let statistics = self.data.evaluate(theta, Order::Hessian)?;
        let n_rows = self.data.n_rows_total() as f64;

        // ∇F and ∇²F on the client's data: F is convex in θ, so Newton's step in θ descends.
        let gradient = self.outer_gradient(&statistics, rho);
        let mut hessian: Vec<f64> = statistics.hessians.iter().map(|h| h / n_rows).collect();
        self.covariance.add_penalty_hessian(self.fairness, rho, &mut hessian);
        let wanted: Vec<f64> =
            Cholesky::new(&hessian, n, self.ridge)?.solve(&gradient).iter().map(|s| -s).collect();
        let slope = dot(&gradient, &wanted);

        let before = self.value(rho);
        if -slope <= RELATIVE_DECREASE * before || norm(&wanted) == 0.0 {
            return Ok(false);
        }
        let (point, varying) = (&self.at.point, &self.varying);
        let step = rows_step::smallest_step(&self.proxy, point, &wanted, self.ridge, varying)?;
        let rows = self.proxy.clients()[0].clone();
        let accepted = backtrack(MAX_TRIALS, |length| {
            let (theta, varying) = (&self.at.point.theta, &self.varying);
            self.proxy.update(0, |into| {
                rows_step::move_rows(&rows, into, theta, &step, length, varying);
            });
            let start = FitPoint::at(&self.proxy, self.at.point.theta.clone())?;
            let trial = measure(&self.proxy, start, &self.data, &self.covariance, self.ridge)?;
            let limit = before + SUFFICIENT_DECREASE * length * slope;
            Ok((trial.value(self.fairness, rho) <= limit).then_some(trial))
        })?;
        if let Some(accepted) = accepted {
            self.at = accepted;
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
