//! The bilevel problem as an outer solver sees it: weights in, `P` and `∇P` out.

use crate::error::Error;
use crate::fairness::Violation;
use crate::hypergradient::hypergradient;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, ridge};
use crate::outcome::Counts;
use crate::outer::SimplexModel;
use crate::root::OuterObjective;
use crate::round::Round;
use crate::settings::Settings;
use crate::statistics::ClientStatistics;

/// `P(w) = F(θ(w), w)`. Keeps the last model, where the next fit starts, and counts what it does.
pub(crate) struct Bilevel<'a> {
    proxies: &'a dyn ClientStatistics,
    outer: OuterObjective<'a>,
    inner: InnerSettings,
    ridge: f64,
    last: Option<FitPoint>,
    /// The last evaluation, and of what: asked for again, it costs nothing.
    answered: Option<(Vec<f64>, f64, Evaluation)>,
    pub(crate) counts: Counts,
}

/// `P` at one `w` and ρ, with its gradient.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
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
        let answer = self.evaluate_anew(weights, rho)?;
        self.answered = Some((weights.to_vec(), rho, answer.clone()));
        Ok(answer)
    }

    fn evaluate_anew(&mut self, weights: &[f64], rho: f64) -> Result<Evaluation, Error> {
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

        let counts = &mut self.counts;
        counts.add_fit(&fit);
        counts.largest_residual = counts.largest_residual.max(hypergradient.residual);
        counts.diagonals_raised += usize::from(hypergradient.diagonal_raised);

        let theta = fit.point.theta.clone();
        self.last = Some(fit.point);
        Ok(Evaluation {
            objective: outer.value,
            violation: outer.violation,
            gradient: hypergradient.gradient,
            theta,
            inner_gradient_norm: fit.gradient_norm,
        })
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
        let n_rows = self.proxies.n_rows_in_all() as f64;
        let jacobian = (0..weights.len())
            .flat_map(|client| factor.solve(fitted.statistics.gradient(client)))
            .map(|v| -v / n_rows)
            .collect();
        let outer_hessian = self.outer.hessian(&here.theta, weights, rho)?;
        Ok(SimplexModel::new(here.gradient.clone(), jacobian, &outer_hessian))
    }
}

#[cfg(test)]
mod tests;
