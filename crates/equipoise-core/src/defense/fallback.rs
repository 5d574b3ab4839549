//! Falls back to a root-only model if that is clearly better than the clients' model.
//!
//! If most clients collude, or no proxy is any good, even the best weights give a bad model. The alternative is a fair
//! model of the root alone, although the root is small. It is judged by five-fold cross-validation on the root. The
//! clients' model was chosen using the whole root, so the comparison favours it. If it still loses, by more than chance
//! can explain, it is not worth publishing.

use rayon::prelude::*;

use super::Solution;
use crate::comparison::scores;
use crate::error::Error;
use crate::linalg::Cholesky;
use crate::logistic::{dot, loss};
use crate::newton::{self, Iterate, NewtonSettings, Objective};
use crate::outcome::Termination;
use crate::root::{OuterObjective, OuterValue, Root, RootWeighting};
use crate::round::Round;
use crate::rows::Rows;
use crate::settings::Settings;
use crate::warning::{Warning, WarningCode};

const FOLDS: usize = 5;

/// Minimum number of root rows for a comparison.
const MIN_ROWS: usize = 40;

/// Candidate strengths κ of the root model's regulariser `(κ/2N)‖θ‖²`. A small root needs far more of it than proxies do.
const STRENGTHS: [f64; 3] = [1.0, 10.0, 100.0];

/// Number of standard errors by which the root-only model must be better.
const MIN_STANDARD_ERRORS: f64 = 3.0;

/// A fit that has not converged after the last iteration is used as it is, because it is judged by its predictions.
const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-8, max_iterations: 50, max_trials: 20, value_noise: 0.0 };

/// Replaces the clients' model with the root-only model if that is clearly better.
pub(super) fn fall_back(
    round: &Round,
    settings: &Settings,
    solution: Solution,
) -> Result<Solution, Error> {
    let all = round.root().all_rows()?;
    if all.len() < MIN_ROWS {
        return Ok(solution);
    }
    let clients = losses(&all, &solution.theta);
    let comparison = Comparison::new(&all, settings)?;
    let mut best: Option<Candidate> = None;
    for strength in STRENGTHS {
        let Some(candidate) = comparison.candidate(strength, &clients)? else { continue };
        if best.as_ref().is_none_or(|best| candidate.gain.mean > best.gain.mean) {
            best = Some(candidate);
        }
    }
    let Some(Candidate { theta, gain }) = best.filter(|best| best.gain.is_clear()) else {
        return Ok(solution);
    };
    let (clients_loss, rows) = (mean(&clients), all.len());
    let root_loss = clients_loss - gain.mean;
    let mut warnings = solution.warnings;
    warnings.push(Warning::new(
        WarningCode::FellBack,
        format!(
            "no client has any weight: on the {rows} root rows, the clients' best model has a mean loss of \
             {clients_loss:.3}, while models fitted to parts of the root have {root_loss:.3} on held-out rows. The \
             root-only model is used instead"
        ),
    ));
    Ok(Solution {
        weights: vec![0.0; round.n_clients()],
        theta,
        termination: Termination::FellBack,
        gap: None,
        warnings,
        ..solution
    })
}

/// The score of each root row under a fair model of the other folds, with the regulariser of the lowest held-out loss.
/// `None` if the root is too small.
pub(crate) fn held_out_root_scores(
    rows: &Rows,
    settings: &Settings,
) -> Result<Option<Vec<f64>>, Error> {
    if rows.len() < MIN_ROWS {
        return Ok(None);
    }
    let comparison = Comparison::new(rows, settings)?;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for strength in STRENGTHS {
        let Some(scores) = comparison.held_out_scores(strength)? else { continue };
        let loss = mean(&losses_of(&scores, rows));
        if best.as_ref().is_none_or(|(lowest, _)| loss < *lowest) {
            best = Some((loss, scores));
        }
    }
    Ok(best.map(|(_, scores)| scores))
}

struct Comparison<'a> {
    rows: &'a Rows,
    /// The same rows as a root, to fit models to.
    whole: Root,
    settings: &'a Settings,
    rho: f64,
    /// The fold of each row.
    fold: Vec<usize>,
}

/// A model of the whole root, and how much lower its cross-validated loss is than the loss of the clients' model.
struct Candidate {
    theta: Vec<f64>,
    gain: Gain,
}

impl<'a> Comparison<'a> {
    fn new(rows: &'a Rows, settings: &'a Settings) -> Result<Self, Error> {
        let rho = settings.outer.rho.last(settings.outer.iterations);
        Ok(Self { rows, whole: Root::new(vec![rows.clone()])?, settings, rho, fold: folds(rows) })
    }

    /// `None` if a fold has no model, or if the model is not clearly better even on the rows it was fitted to.
    fn candidate(&self, strength: f64, clients: &[f64]) -> Result<Option<Candidate>, Error> {
        let theta = self.fit(&self.whole, strength)?;
        if !Gain::of(clients, &losses(self.rows, &theta)).is_clear() {
            return Ok(None);
        }
        let held_out = self.held_out_scores(strength)?;
        let gain = |scores: Vec<f64>| Gain::of(clients, &losses_of(&scores, self.rows));
        Ok(held_out.map(|scores| Candidate { theta, gain: gain(scores) }))
    }

    /// The score of each row under a model of the other folds.
    fn held_out_scores(&self, strength: f64) -> Result<Option<Vec<f64>>, Error> {
        let models: Vec<Result<Option<Vec<f64>>, Error>> =
            (0..FOLDS).into_par_iter().map(|fold| self.fit_without(fold, strength)).collect();
        // In the order of the folds, so that threads do not decide whether an error or a missing model comes first.
        let Some(models) = models.into_iter().collect::<Result<Option<Vec<_>>, Error>>()? else {
            return Ok(None);
        };
        let score = |i: usize| dot(self.rows.a(i), &models[self.fold[i]]);
        Ok(Some((0..self.rows.len()).map(score).collect()))
    }

    /// The model of all folds but one. `None` if its rows cannot tell whether a model is fair.
    fn fit_without(&self, fold: usize, strength: f64) -> Result<Option<Vec<f64>>, Error> {
        let kept: Vec<usize> = (0..self.rows.len()).filter(|&i| self.fold[i] != fold).collect();
        match Root::new(vec![self.rows.select(&kept)]) {
            Ok(root) if root.check(self.settings.fairness).is_ok() => {
                self.fit(&root, strength).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The minimiser of mean loss, fairness penalty and regulariser on a root.
    fn fit(&self, root: &Root, strength: f64) -> Result<Vec<f64>, Error> {
        let outer = OuterObjective {
            root,
            fairness: self.settings.fairness,
            weighting: RootWeighting::Pooled,
            ridge: strength / root.n_rows(),
        };
        let objective = RootObjective { outer, rho: self.rho };
        let origin = objective.at(vec![0.0; self.rows.layout().n()])?;
        Ok(newton::minimise(&objective, origin, &NEWTON)?.point.theta)
    }
}

/// `F` as a function of `θ` alone.
struct RootObjective<'a> {
    outer: OuterObjective<'a>,
    rho: f64,
}

impl Objective for RootObjective<'_> {
    type State = ();

    fn at(&self, theta: Vec<f64>) -> Result<Iterate<()>, Error> {
        let OuterValue { value, gradient_theta: gradient, .. } =
            self.outer.evaluate(&theta, &[1.0], self.rho)?;
        Ok(Iterate { theta, value, gradient, state: () })
    }

    fn hessian_factor(&self, point: &Iterate<()>) -> Result<Cholesky, Error> {
        let hessian = self.outer.lower_hessian(&point.theta, &[1.0], self.rho)?;
        Cholesky::new(&hessian, point.theta.len(), 0.0)
    }
}

/// How much lower the mean loss is under a second model than under the first, on the same rows.
#[derive(Debug, Clone, Copy)]
struct Gain {
    mean: f64,
    standard_error: f64,
}

impl Gain {
    fn of(first: &[f64], second: &[f64]) -> Self {
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let (n, mean) = (differences.len() as f64, mean(&differences));
        let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
        Self { mean, standard_error: (variance / n).sqrt() }
    }

    fn is_clear(&self) -> bool {
        self.mean > MIN_STANDARD_ERRORS * self.standard_error
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The loss of each row.
fn losses(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    losses_of(&scores(theta, rows), rows)
}

/// The loss of each row, from its score.
fn losses_of(scores: &[f64], rows: &Rows) -> Vec<f64> {
    scores.iter().zip(rows.labels()).map(|(score, y)| loss(y * score)).collect()
}

/// Stratified folds: the rows of each group and label are dealt to the folds in turn.
fn folds(rows: &Rows) -> Vec<usize> {
    let mut seen = vec![[0; 2]; rows.layout().groups.len()];
    let fold = |i: usize| {
        let count: &mut usize = &mut seen[rows.group(i)][usize::from(rows.is_positive(i))];
        *count += 1;
        (*count - 1) % FOLDS
    };
    (0..rows.len()).map(fold).collect()
}

#[cfg(test)]
mod tests;
