//! What would change without a client: its weight goes to 0 and the other weights keep their proportions. The defense does
//! not choose them again: without this client, it might count the others more or less than it does.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::AuditedRoot;
use super::own_model::OwnFit;
use crate::defense::{ClientTilt, ModelAverage, ModelForm};
use crate::error::Error;
use crate::inner_fit::{FitPoint, InnerProblem, InnerSettings, InnerSolver, ridge};
use crate::interval::Count;
use crate::logistic::loss;
use crate::outcome::{Outcome, Termination};
use crate::round::Round;

/// The change of the model's figures on the root if a client were left out. The gap is a size, so a positive change means
/// that the client makes the model fairer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Change of the mean loss.
    pub loss: f64,
    /// Change of the worst gap. `None` if it cannot be measured.
    pub gap: Option<f64>,
}

/// Up to so many clients, a model fitted to all proxies is fitted again without each of them. Averages need no fit.
const MAX_REFITS: usize = 50;

/// The other clients' weight up to which a client counts as the only one.
pub(super) const NOTHING_LEFT: f64 = 1e-9;

/// From the published model, about three steps are usual.
const REFIT: InnerSettings =
    InnerSettings { solver: InnerSolver::Newton, tolerance: 1e-9, max_iterations: 50 };

/// The change without each client.
pub(super) fn of_each(
    round: &Round,
    outcome: &Outcome,
    published: &FitPoint,
    fits: &[Option<OwnFit>],
    root: &AuditedRoot<'_>,
) -> Result<Vec<Option<LeftOut>>, Error> {
    let (rows, weights, defense) = (round.proxies(), outcome.weights(), outcome.settings.defense);
    let n_clients = weights.len();
    let ridge = ridge(outcome.settings.lambda, rows.n());
    let refit = |weights: &[f64]| {
        let problem = InnerProblem { rows, weights, ridge };
        Ok(problem.fit(published.clone(), &REFIT)?.point.theta)
    };
    match defense.model_form() {
        _ if !outcome.uses_proxies() || outcome.termination == Termination::FellBack => {}
        ModelForm::Average => {
            let models: Option<Vec<&[f64]>> =
                fits.iter().map(|fit| Some(fit.as_ref()?.theta.as_slice())).collect();
            if let Some(models) = models {
                let average = defense.model_average(models, round.root())?;
                let limits = limits(outcome, &average);
                let model = |weights: &[f64]| {
                    let mut theta = average.at(weights);
                    for Limit { column, clients, change } in &limits {
                        let weight: f64 = clients.iter().map(|&client| weights[client]).sum();
                        theta[*column] += change * weight;
                    }
                    Ok(theta)
                };
                return changes(&published.theta, root, &weights, &weights, model);
            }
        }
        ModelForm::WeightedFit if n_clients <= MAX_REFITS => {
            return changes(&published.theta, root, &weights, &weights, refit);
        }
        ModelForm::PooledFit if n_clients <= MAX_REFITS => {
            let total = rows.n_rows_total() as f64;
            let shares: Vec<f64> =
                (0..n_clients).map(|client| rows.n_rows(client) as f64 / total).collect();
            return changes(&published.theta, root, &vec![1.0; n_clients], &shares, refit);
        }
        ModelForm::WeightedFit | ModelForm::PooledFit | ModelForm::RootOnly => {}
    }
    Ok(vec![None; n_clients])
}

/// A coefficient that the defense limited in some clients' models, and by how much, as the published model shows. If it
/// was limited in several, only their weighted mean is known.
struct Limit {
    column: usize,
    clients: Vec<usize>,
    change: f64,
}

fn limits(outcome: &Outcome, average: &ModelAverage<'_>) -> Vec<Limit> {
    let weights = outcome.weights();
    let unlimited = average.at(&weights);
    let clients_of = |column: usize| -> Vec<usize> {
        let clients = outcome.clients.iter().enumerate();
        let is_limited = |tilt: &ClientTilt| tilt.limited.contains(&column);
        clients.filter(|(_, c)| c.tilt.as_ref().is_some_and(is_limited)).map(|(c, _)| c).collect()
    };
    let limit = |column: usize| {
        let clients = clients_of(column);
        let weight: f64 = clients.iter().map(|&client| weights[client]).sum();
        let change = (outcome.theta[column] - unlimited[column]) / weight;
        (weight > 0.0).then_some(Limit { column, clients, change })
    };
    (0..unlimited.len()).filter_map(limit).collect()
}

/// `model` gives the model at other weights than these. `shares` are the clients' parts of all weight.
fn changes(
    theta: &[f64],
    root: &AuditedRoot<'_>,
    weights: &[f64],
    shares: &[f64],
    model: impl Fn(&[f64]) -> Result<Vec<f64>, Error> + Sync,
) -> Result<Vec<Option<LeftOut>>, Error> {
    let now = figures(theta, root);
    let change = |client: usize| {
        let rest = 1.0 - shares[client];
        if rest <= NOTHING_LEFT {
            return Ok(None);
        }
        let then = if weights[client] == 0.0 {
            now
        } else {
            let mut others: Vec<f64> = weights.iter().map(|w| w / rest).collect();
            others[client] = 0.0;
            match model(&others) {
                Ok(theta) => figures(&theta, root),
                Err(Error::NotPositiveDefinite { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        };
        let gap = now.1.zip(then.1).map(|(now, then)| then - now);
        let left_out = LeftOut { loss: then.0 - now.0, gap };
        Ok(Some(left_out).filter(|left_out| left_out.loss.is_finite()))
    };
    (0..weights.len()).into_par_iter().map(change).collect()
}

/// The mean loss, and the size of the worst gap: the largest difference of two groups' rates over the conditions that count.
fn figures(theta: &[f64], root: &AuditedRoot<'_>) -> (f64, Option<f64>) {
    let scores = root.scores(theta);
    let losses = scores.iter().zip(root.rows.labels()).map(|(score, y)| loss(y * score));
    let mean_loss = losses.sum::<f64>() / scores.len() as f64;
    let range = |counts: Vec<Count>| {
        let mut rates: Vec<f64> =
            counts.iter().filter(|count| count.n > 0).map(|count| count.share()).collect();
        rates.sort_unstable_by(f64::total_cmp);
        Some(rates.last()? - rates.first()?).filter(|_| rates.len() > 1)
    };
    let gap = root.selected(&scores).into_iter().filter_map(range).reduce(f64::max);
    (mean_loss, gap)
}
