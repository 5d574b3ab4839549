//! What a client's weight does to the published model.
//!
//! Leaving a client out means that its weight goes to 0 and the other weights keep their proportions. The defense does not
//! choose them again: without this client, it might trust the others more or less than it does.
//!
//! Two kinds of models are told apart. A weighted fit `θ(w)` depends on the weights through the inner problem: at its
//! minimum `dθ/dw_c = −H⁻¹ g_c / N`. Without a client it is fitted again if that is cheap or the client has much weight.
//! Otherwise it is estimated by one Newton step of the problem that is left, which needs no pass over the rows.
//! An average of models needs no fit at all, so it is exact. Either way the model without the client is then measured on
//! the root like any other, so at most the model is estimated, not its loss or gap.

use serde::{Deserialize, Serialize};

use super::own_model::OwnFit;
use super::root_probe::{Probed, ProbedGradients, RootProbe};
use crate::defense::{ModelAverage, ModelForm};
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, InnerSolver};
use crate::linalg::Cholesky;
use crate::logistic::dot;
use crate::outcome::{Outcome, Termination};
use crate::round::Round;
use crate::statistics::{ClientStatistics, Statistics};

/// What a client's weight does to the published model, measured on the root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Influence {
    /// The change if the client were left out and the other weights kept their proportions. `None` if no other client
    /// has any weight.
    pub left_out: Option<LeftOut>,
    /// The derivative of the loss as weight moves to the client from all clients in proportion, per unit of weight.
    pub loss_slope: f64,
    /// The derivative of the soft gap in the same direction. `None` if the gap cannot be measured.
    pub soft_gap_slope: Option<f64>,
}

/// The change of the model's figures on the root if a client were left out. The gaps are sizes, so a positive change
/// means that the client makes the model fairer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Change of the mean loss.
    pub loss: f64,
    /// Change of the worst gap, by decisions: a multiple of one row's share.
    pub gap: Option<f64>,
    /// Change of the worst gap in the mean predicted probability, which changes smoothly.
    pub soft_gap: Option<f64>,
    /// Whether the model without the client is estimated by one Newton step, rather than exact.
    pub estimated: bool,
}

/// The other clients' weight up to which a client counts as the only one.
const NOTHING_LEFT: f64 = 1e-9;

/// One Newton step is not enough for a client with more of the weight than this, so the model without it is always
/// fitted again. At most nine clients have so much.
const LARGE_SHARE: f64 = 0.1;
/// If a pass over the rows for every client takes at most this many multiplications, the model is fitted again without
/// each of them. A gap by decisions jumps with every row that crosses the threshold, so its sign may need the exact model.
pub(super) const MAX_REFIT_COST: f64 = 8e9;
/// A warm start needs about three steps.
const REFIT: InnerSettings =
    InnerSettings { solver: InnerSolver::Newton, tolerance: 1e-9, max_iterations: 8 };

/// The published model on the root.
pub(super) struct Published {
    figures: Probed,
    gradients: ProbedGradients,
}

impl Published {
    pub(super) fn new(theta: &[f64], probe: &RootProbe<'_>) -> Self {
        Self { figures: probe.measure(theta), gradients: probe.gradients(theta) }
    }
}

/// Finds the model without any one client.
pub(super) struct Removal<'a> {
    proxies: &'a dyn ClientStatistics,
    outcome: &'a Outcome,
    form: Form<'a>,
}

enum Form<'a> {
    Fit {
        /// The weight of each client's rows: `w_c`, or 1 if all rows are pooled.
        row_weights: Vec<f64>,
        /// The share of the weight that each client has.
        shares: Vec<f64>,
        at_model: &'a Statistics,
        factor: Cholesky,
        ridge: f64,
        /// Whether every model is fitted again, whatever the client's share.
        refit_all: bool,
    },
    Average {
        weights: &'a [f64],
        average: ModelAverage<'a>,
        /// What each model is multiplied by.
        factors: Vec<f64>,
    },
}

impl<'a> Removal<'a> {
    /// `None` if the model does not use the proxies.
    pub(super) fn new(
        round: &'a Round,
        weights: &'a [f64],
        outcome: &'a Outcome,
        at_model: &'a Statistics,
        fits: &'a [Option<OwnFit>],
        ridge: f64,
        max_refit_cost: f64,
    ) -> Result<Option<Self>, Error> {
        let (proxies, root) = (round.proxies(), round.root());
        let n_rows = |c: usize| proxies.n_rows(c) as f64 / proxies.n_rows_total() as f64;
        let is_used = outcome.uses_proxies() && outcome.termination != Termination::FellBack;
        let form = match outcome.settings.defense.model_form() {
            _ if !is_used => return Ok(None),
            ModelForm::RootOnly => return Ok(None),
            ModelForm::WeightedFit => (weights.to_vec(), weights.to_vec()),
            ModelForm::PooledFit => {
                (vec![1.0; weights.len()], (0..weights.len()).map(n_rows).collect())
            }
            ModelForm::Average => {
                let fits: Option<Vec<&OwnFit>> = fits.iter().map(Option::as_ref).collect();
                let Some(fits) = fits else { return Ok(None) };
                let models = fits.iter().map(|fit| fit.theta.as_slice()).collect();
                let average = outcome.settings.defense.model_average(models, root)?;
                let factors = average.factors(weights);
                let form = Form::Average { weights, average, factors };
                return Ok(Some(Self { proxies, outcome, form }));
            }
        };
        let (row_weights, shares) = form;
        let problem = InnerProblem { rows: proxies, weights: &row_weights, ridge };
        let factor = match problem.factor(&problem.hessian(at_model)) {
            Ok(factor) => factor,
            Err(Error::NotPositiveDefinite { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let refit_all = refit_cost(proxies) <= max_refit_cost;
        let form = Form::Fit { row_weights, shares, at_model, factor, ridge, refit_all };
        Ok(Some(Self { proxies, outcome, form }))
    }

    pub(super) fn influence(
        &self,
        client: usize,
        now: &Published,
        probe: &RootProbe<'_>,
    ) -> Result<Option<Influence>, Error> {
        let theta = &self.outcome.theta;
        let Some(direction) = self.direction(client) else { return Ok(None) };
        let ProbedGradients { loss, soft_gap } = &now.gradients;
        let left_out = match self.without(client) {
            Ok(None) | Err(Error::NotPositiveDefinite { .. }) => None,
            Ok(Some(Without { theta: without, estimated })) => {
                // Clients without weight change nothing, and most clients of a large round may have none.
                let is_same = without == *theta;
                let then = if is_same { now.figures } else { probe.measure(&without) };
                Some(LeftOut::between(&now.figures, &then, estimated))
            }
            Err(error) => return Err(error),
        };
        Ok(Some(Influence {
            left_out,
            loss_slope: dot(loss, &direction),
            soft_gap_slope: soft_gap.as_ref().map(|gradient| dot(gradient, &direction)),
        }))
    }

    /// The derivative of the model as weight moves to a client from all clients in proportion.
    fn direction(&self, client: usize) -> Option<Vec<f64>> {
        match &self.form {
            Form::Average { average, factors, .. } => {
                let own = average.model(client).iter().map(|t| factors[client] * t);
                Some(own.zip(&self.outcome.theta).map(|(own, t)| own - t).collect())
            }
            Form::Fit { row_weights, shares, at_model, factor, .. } => {
                // Row weights u move along u_c/share_c e_c − u: with `w_c` that is e_c − w, and if all rows are pooled
                // it is N/n_c e_c − 1.
                let n_rows = self.proxies.n_rows_total() as f64;
                let own = match self.outcome.settings.defense.model_form() {
                    ModelForm::PooledFit => 1.0 / shares[client],
                    _ => 1.0,
                };
                let mean = at_model.weighted_gradient(row_weights);
                let gradient = at_model.gradient(client).iter().zip(&mean);
                let right: Vec<f64> = gradient.map(|(g, m)| -(own * g - m) / n_rows).collect();
                Some(factor.solve(&right))
            }
        }
    }

    /// The model without a client. `None` if nobody else has any weight.
    fn without(&self, client: usize) -> Result<Option<Without>, Error> {
        let theta = &self.outcome.theta;
        let (weights, share) = match &self.form {
            Form::Average { weights, .. } => (*weights, weights[client]),
            Form::Fit { row_weights, shares, .. } => (row_weights.as_slice(), shares[client]),
        };
        let rest = 1.0 - share;
        if rest <= NOTHING_LEFT {
            return Ok(None);
        }
        let exact = |theta| Ok(Some(Without { theta, estimated: false }));
        if weights[client] == 0.0 {
            return exact(theta.clone());
        }
        let mut weights: Vec<f64> = weights.iter().map(|w| w / rest).collect();
        weights[client] = 0.0;
        let (at_model, ridge, refit_all) = match &self.form {
            Form::Average { average, .. } => return exact(average.at(&weights)),
            Form::Fit { at_model, ridge, refit_all, .. } => (*at_model, *ridge, *refit_all),
        };
        let problem = InnerProblem { rows: self.proxies, weights: &weights, ridge };
        if refit_all || share > LARGE_SHARE {
            let start = FitPoint { theta: theta.clone(), statistics: at_model.clone() };
            return exact(problem.fit(start, &REFIT)?.point.theta);
        }
        let factor = problem.factor(&problem.hessian(at_model))?;
        let step = factor.solve(&problem.gradient(theta, at_model));
        let theta = theta.iter().zip(&step).map(|(t, s)| t - s).collect();
        Ok(Some(Without { theta, estimated: true }))
    }
}

/// The model without a client.
struct Without {
    theta: Vec<f64>,
    estimated: bool,
}

/// Multiplications of one pass over the rows for every client: each pass adds `n²` products per row, and `n²` sums per
/// client.
fn refit_cost(proxies: &dyn ClientStatistics) -> f64 {
    let (n, n_clients) = (proxies.n() as f64, proxies.n_clients() as f64);
    n_clients * (proxies.n_rows_total() as f64 + n_clients) * n * n
}

impl Influence {
    pub(super) fn is_finite(&self) -> bool {
        let left_out = self.left_out.iter().flat_map(|l| [Some(l.loss), l.gap, l.soft_gap]);
        let slopes = [Some(self.loss_slope), self.soft_gap_slope];
        left_out.chain(slopes).flatten().all(f64::is_finite)
    }
}

impl LeftOut {
    fn between(now: &Probed, then: &Probed, estimated: bool) -> Self {
        let change = |(now, then): (f64, f64)| then - now;
        Self {
            loss: then.loss - now.loss,
            gap: now.gap.zip(then.gap).map(change),
            soft_gap: now.soft_gap.zip(then.soft_gap).map(change),
            estimated,
        }
    }
}
