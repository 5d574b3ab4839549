//! The bilevel problem as an outer solver sees it: weights in, `P` and `∇P` out.

use crate::error::Error;
use crate::fairness::Violation;
use crate::hypergradient::hypergradient;
use crate::inner_fit::{Fit, FitPoint, InnerProblem, InnerSettings, ridge};
use crate::logistic::dot;
use crate::outcome::Counts;
use crate::outer::SimplexModel;
use crate::root::OuterObjective;
use crate::round::Round;
use crate::settings::Settings;
use crate::statistics::{ClientStatistics, OneClient};
use rayon::prelude::*;

/// Clients for which the inner tolerance means what the settings say.
const FEW_CLIENTS: f64 = 16.0;

/// `P(w) = F(θ(w), w)`. Keeps the last model, where the next fit starts, and counts what it does.
pub(crate) struct Bilevel<'a> {
    proxies: &'a dyn ClientStatistics,
    outer: OuterObjective<'a>,
    inner: InnerSettings,
    asked_tolerance: f64,
    ridge: f64,
    last: Option<FitPoint>,
    /// The last evaluation, and of what: asked for again, it costs nothing.
    answered: Option<(Vec<f64>, f64, Evaluation)>,
    pub(crate) counts: Counts,
}

/// `P` at one `w` and ρ, with its gradient.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
    /// `P`. What the inner fit leaves undone is taken into account to first order: with `r` the inner gradient
    /// at the model, its next Newton step would change `F` by `−v·r`.
    pub(crate) objective: f64,
    pub(crate) violation: Violation,
    pub(crate) gradient: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    /// Norm of the inner gradient at the model.
    pub(crate) inner_gradient_norm: f64,
}

impl<'a> Bilevel<'a> {
    pub(crate) fn new(round: &'a Round, settings: &Settings) -> Self {
        let ridge = ridge(settings.lambda, round.proxies().n());
        Self {
            proxies: round.proxies(),
            outer: OuterObjective {
                root: round.root(),
                fairness: settings.fairness,
                weighting: settings.root_weighting,
                ridge,
            },
            inner: settings.inner,
            asked_tolerance: settings.inner.tolerance,
            ridge,
            last: None,
            answered: None,
            counts: Counts::default(),
        }
    }

    /// Fits `θ(w)` from the last model, then measures and differentiates `P` there.
    pub(crate) fn evaluate(&mut self, weights: &[f64], rho: f64) -> Result<Evaluation, Error> {
        self.counts.evaluations += 1;
        if let Some((asked, at, answer)) = &self.answered
            && asked == weights
            && *at == rho
        {
            return Ok(answer.clone());
        }
        let answer = self.evaluate_uncached(weights, rho)?;
        self.answered = Some((weights.to_vec(), rho, answer.clone()));
        Ok(answer)
    }

    fn evaluate_uncached(&mut self, weights: &[f64], rho: f64) -> Result<Evaluation, Error> {
        let start = match self.last.take() {
            Some(point) => point,
            None => {
                self.counts.passes += 1;
                FitPoint::origin(self.proxies)?
            }
        };
        let inner = InnerProblem { rows: self.proxies, weights, ridge: self.ridge };
        let fit = inner.fit(start, &self.inner)?;
        let outer = self.outer.evaluate(&fit.point.theta, weights, rho)?;
        let hypergradient = hypergradient(&inner, &fit.point, &outer)?;
        let residual = inner.gradient(&fit.point.theta, &fit.point.statistics);

        let counts = &mut self.counts;
        counts.add_fit(&fit);
        counts.largest_residual = counts.largest_residual.max(hypergradient.residual);
        counts.diagonals_raised += usize::from(hypergradient.diagonal_raised);

        let theta = fit.point.theta.clone();
        self.last = Some(fit.point);
        Ok(Evaluation {
            objective: outer.value - dot(&hypergradient.v, &residual),
            violation: outer.violation,
            gradient: hypergradient.gradient,
            theta,
            inner_gradient_norm: fit.gradient_norm,
        })
    }

    /// Lets inner fits stop earlier than the settings say, or, with 0, as they say. A weight is about `1/K`, and so
    /// is the inner gradient, while `P` is not: beyond `FEW_CLIENTS`, the tolerance shrinks as the gradient does.
    pub(crate) fn loosen(&mut self, tolerance: f64) {
        let share = (FEW_CLIENTS / self.proxies.n_clients() as f64).min(1.0);
        let tolerance = share * self.asked_tolerance.max(tolerance);
        if tolerance < self.inner.tolerance {
            self.answered = None;
        }
        self.inner.tolerance = tolerance;
    }

    /// Where the next fit starts, to come back to.
    pub(crate) fn bookmark(&self) -> Option<FitPoint> {
        self.last.clone()
    }

    /// The next fit starts from there again.
    pub(crate) fn return_to(&mut self, bookmark: Option<FitPoint>) {
        self.last = bookmark;
    }

    /// The next fit starts from this model: one pass.
    pub(crate) fn start_from(&mut self, theta: Vec<f64>) -> Result<(), Error> {
        self.counts.passes += 1;
        self.last = Some(FitPoint::at(self.proxies, theta)?);
        Ok(())
    }

    /// The model of each client alone, at weight 1, and `P` there. Each fit looks at its own client's rows only,
    /// so all of them together cost a few passes, for any number of clients.
    pub(crate) fn vertices(&mut self, rho: f64) -> Result<Vec<(f64, Vec<f64>)>, Error> {
        let n_clients = self.proxies.n_clients();
        let start = self.last.as_ref().map(|point| point.theta.clone());
        let start = start.unwrap_or_else(|| vec![0.0; self.proxies.n()]);
        let vertex = |client: usize| -> Result<(f64, Fit), Error> {
            let rows = OneClient { rows: self.proxies, client };
            let inner = InnerProblem { rows: &rows, weights: &[1.0], ridge: self.ridge };
            let fit = inner.fit(FitPoint::at(&rows, start.clone())?, &self.inner)?;
            let mut weights = vec![0.0; n_clients];
            weights[client] = 1.0;
            let value = self.outer.evaluate(&fit.point.theta, &weights, rho)?.value;
            Ok((value, fit))
        };
        let vertices: Vec<(f64, Fit)> =
            (0..n_clients).into_par_iter().map(vertex).collect::<Result<_, Error>>()?;
        let mut rows_read = 0;
        for (client, (_, fit)) in vertices.iter().enumerate() {
            rows_read += (fit.passes + 1) * self.proxies.n_rows(client);
            self.counts.add_fit(&Fit { passes: 0, ..fit.clone() });
        }
        self.counts.evaluations += n_clients;
        self.counts.passes += rows_read.div_ceil(self.proxies.n_rows_total());
        Ok(vertices.into_iter().map(|(value, fit)| (value, fit.point.theta)).collect())
    }

    /// The Gauss–Newton model of `P` around the weights that were evaluated last. No pass over the
    /// proxies: the statistics of the last model are at hand.
    pub(crate) fn model(
        &self,
        weights: &[f64],
        rho: f64,
        here: &Evaluation,
    ) -> Result<SimplexModel, Error> {
        // Unwrap safety: an evaluation is at hand, so there was a fit.
        #[allow(clippy::unwrap_used)]
        let fitted = self.last.as_ref().unwrap();
        let inner = InnerProblem { rows: self.proxies, weights, ridge: self.ridge };
        let factor = inner.factor(&inner.hessian(&fitted.statistics))?;
        let n_rows = self.proxies.n_rows_total() as f64;
        let jacobian = (0..weights.len())
            .flat_map(|client| factor.solve(fitted.statistics.gradient(client)))
            .map(|v| -v / n_rows)
            .collect();
        let outer_hessian = self.outer.hessian(&here.theta, weights, rho)?;
        SimplexModel::new(here.gradient.clone(), jacobian, &outer_hessian)
    }
}

#[cfg(test)]
mod tests;
