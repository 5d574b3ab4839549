//! The bilevel problem: `P(w) = F(θ(w), w)` and its hypergradient `∇P(w)` at given weights.

use crate::error::Error;
use crate::fairness::Violation;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, ridge};
use crate::linalg::relative_residual;
use crate::logistic::dot;
use crate::outcome::Counts;
use crate::root::OuterObjective;
use crate::round::Round;
use crate::settings::{OuterSettings, Settings};
use crate::simplex::frank_wolfe_gap;
use crate::statistics::ClientStatistics;

/// The two levels of the problem, and a count of the work done on them.
pub(crate) struct Bilevel<'a> {
    pub(crate) proxies: &'a dyn ClientStatistics,
    pub(crate) outer: OuterObjective<'a>,
    pub(crate) counts: Counts,
    ridge: f64,
}

/// `P` and `∇P` at one `(w, ρ)`.
#[derive(Debug, Clone)]
pub(crate) struct Evaluation {
    pub(crate) weights: Vec<f64>,
    pub(crate) rho: f64,
    /// `P`, corrected to first order for the inner fit's remaining error: with `r` the inner gradient at `θ`, one more
    /// Newton step would change `F` by `−v·r`.
    pub(crate) objective: f64,
    pub(crate) violation: Violation,
    /// `∇P`.
    pub(crate) gradient: Vec<f64>,
    /// `θ(w)` and the statistics there: the warm start of the next fit.
    pub(crate) point: FitPoint,
    /// Norm of the inner gradient at `θ`.
    pub(crate) inner_gradient_norm: f64,
}

impl<'a> Bilevel<'a> {
    pub(crate) fn new(round: &'a Round, settings: &Settings) -> Self {
        let (proxies, root) = (round.proxies(), round.root());
        let ridge = ridge(settings.lambda, proxies.n());
        let &Settings { fairness, root_weighting: weighting, .. } = settings;
        let outer = OuterObjective { root, fairness, weighting, ridge };
        Self { proxies, outer, counts: Counts::default(), ridge }
    }

    /// Fits `θ(w)` from `start`, measures `F` there and differentiates `P`.
    ///
    /// At the inner minimum `dθ/dw_c = −H⁻¹ g_c / N`. So with `v = H⁻¹ ∂F/∂θ`, one factorisation and one solve, the
    /// hypergradient is `∂P/∂w_c = ∂F/∂w_c − g_c·v / N`.
    pub(crate) fn evaluate(
        &mut self,
        weights: Vec<f64>,
        rho: f64,
        start: FitPoint,
        settings: &InnerSettings,
    ) -> Result<Evaluation, Error> {
        let inner = self.inner_problem(&weights);
        let fit = inner.fit(start, settings)?;
        let FitPoint { theta, statistics } = &fit.point;

        let outer = self.outer.evaluate(theta, &weights, rho)?;

        let hessian = inner.hessian(statistics);
        let factor = inner.factor(&hessian)?;
        let v = factor.solve(&outer.gradient_theta);
        let n_rows = self.proxies.n_rows_total() as f64;
        let entry = |(client, direct): (usize, &f64)| {
            direct - dot(statistics.gradient(client), &v) / n_rows
        };
        let gradient = outer.gradient_weights.iter().enumerate().map(entry).collect();
        let residual = relative_residual(&hessian, self.ridge, &v, &outer.gradient_theta);
        let correction = dot(&v, &inner.gradient(theta, statistics));

        let counts = &mut self.counts;
        counts.evaluations += 1;
        counts.add_fit(&fit.end);
        counts.largest_residual = counts.largest_residual.max(residual);
        counts.diagonals_raised += usize::from(factor.added_to_diagonal > 0.0);
        Ok(Evaluation {
            weights,
            rho,
            objective: outer.value - correction,
            violation: outer.violation,
            gradient,
            point: fit.point,
            inner_gradient_norm: fit.end.gradient_norm,
        })
    }

    /// A start for a fit at `theta`, in one pass.
    pub(crate) fn start_at(&mut self, theta: Vec<f64>) -> Result<FitPoint, Error> {
        self.counts.passes += 1;
        FitPoint::at(self.proxies, theta)
    }

    /// The cold start, `θ = 0`.
    pub(crate) fn origin(&mut self) -> Result<FitPoint, Error> {
        self.start_at(vec![0.0; self.proxies.n()])
    }

    pub(crate) fn inner_problem<'w>(&self, weights: &'w [f64]) -> InnerProblem<'w>
    where
        'a: 'w,
    {
        InnerProblem { rows: self.proxies, weights, ridge: self.ridge }
    }
}

impl Evaluation {
    /// The Frank–Wolfe gap as a share of `max(1, P)`; NaN if `P` is not finite.
    pub(crate) fn relative_gap(&self) -> f64 {
        let scale = self.scale();
        if scale.is_finite() {
            frank_wolfe_gap(&self.weights, &self.gradient) / scale
        } else {
            f64::NAN
        }
    }

    /// Whether the gap is within its tolerance, if one is set.
    pub(crate) fn is_stationary(&self, settings: &OuterSettings) -> bool {
        settings.gap_tolerance.is_some_and(|tolerance| self.relative_gap() <= tolerance)
    }

    /// `max(1, |P|)`, which decreases are compared with.
    pub(crate) fn scale(&self) -> f64 {
        self.objective.abs().max(1.0)
    }
}

#[cfg(test)]
mod tests;
