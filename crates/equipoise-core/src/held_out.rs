//! Decisions of fair models of the root alone, on rows that they were not fitted to.
//!
//! Five-fold cross-validation on the root, with the regulariser that does best on held-out rows.

use rayon::prelude::*;

use crate::error::Error;
use crate::linalg::Cholesky;
use crate::logistic::{dot, loss};
use crate::newton::{self, Iterate, NewtonSettings, Objective};
use crate::root::{OuterObjective, OuterValue, Root, RootWeighting};
use crate::rows::Rows;
use crate::settings::Settings;

const FOLDS: usize = 5;

/// Minimum number of root rows to hold out a fold.
const MIN_ROWS: usize = 40;

/// Candidate strengths κ of the root model's regulariser `(κ/2N)‖θ‖²`. A small root needs far more of it than proxies do.
const STRENGTHS: [f64; 3] = [1.0, 10.0, 100.0];

/// A fit that has not converged after the last iteration is used as it is, because it is judged by its predictions.
const NEWTON: NewtonSettings =
    NewtonSettings { tolerance: 1e-8, max_iterations: 50, max_trials: 20, value_noise: 0.0 };

/// The score of each root row under a fair model of the other folds, with the regulariser of the lowest held-out loss.
/// `None` if the root is too small.
pub(crate) fn held_out_root_scores(
    rows: &Rows,
    settings: &Settings,
) -> Result<Option<Vec<f64>>, Error> {
    if rows.len() < MIN_ROWS {
        return Ok(None);
    }
    let held_out = HeldOut::new(rows, settings);
    let mut best: Option<(f64, Vec<f64>)> = None;
    for strength in STRENGTHS {
        let Some(scores) = held_out.held_out_scores(strength)? else { continue };
        let loss = mean(&losses_of(&scores, rows));
        if best.as_ref().is_none_or(|(lowest, _)| loss < *lowest) {
            best = Some((loss, scores));
        }
    }
    Ok(best.map(|(_, scores)| scores))
}

struct HeldOut<'a> {
    rows: &'a Rows,
    settings: &'a Settings,
    rho: f64,
    /// The fold of each row.
    fold: Vec<usize>,
}

impl<'a> HeldOut<'a> {
    fn new(rows: &'a Rows, settings: &'a Settings) -> Self {
        let rho = settings.outer.rho.last(settings.outer.iterations);
        Self { rows, settings, rho, fold: folds(rows) }
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
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
