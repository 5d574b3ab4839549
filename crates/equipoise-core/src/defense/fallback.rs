//! Whether the root alone gives a better model than all clients together.
//!
//! Where most clients collude, or no proxy is any good, the best weights still give a bad model. The root alone is the
//! alternative, though a poor one: it is small. So it is judged by rows that it has not seen: in each of five turns, a fair
//! model of four fifths of the root predicts the rest. The clients' model, which was chosen by the whole root, has the
//! easier test; where it loses all the same, by more than chance explains, it is not worth publishing.

use super::Defended;
use crate::error::Error;
use crate::linalg::{Cholesky, norm};
use crate::logistic::{dot, loss};
use crate::outcome::Termination;
use crate::root::{OuterObjective, Root, RootWeighting};
use crate::round::Round;
use crate::rows::Rows;
use crate::settings::Settings;
use crate::warning::{Warning, WarningCode};

/// Parts of the root, each of which is predicted by the others.
const FOLDS: usize = 5;

/// Below this many root rows nothing is judged.
const MIN_ROWS: usize = 40;

/// Strengths of the root model's regulariser that are tried, in rows: `(κ/2N)‖θ‖²`. A small root needs far more of it
/// than proxies do.
const STRENGTHS: [f64; 3] = [1.0, 10.0, 100.0];

/// Standard errors by which the root alone must be better.
const CLEARLY: f64 = 3.0;

/// A fit of the root has converged at this gradient; one that has not after so many steps is used as it is, for it is
/// judged by what it predicts.
const TOLERANCE: f64 = 1e-8;
const MAX_STEPS: usize = 50;
const SHORTEST: f64 = 1e-6;

/// The root's own fair model instead of the clients', where it is clearly better.
pub(super) fn fall_back(
    round: &Round,
    settings: &Settings,
    defended: Defended,
) -> Result<Defended, Error> {
    let all = round.root().all_rows()?;
    if all.len() < MIN_ROWS {
        return Ok(defended);
    }
    let clients = losses(&all, &defended.theta);
    let judge = Judge {
        rows: &all,
        whole: Root::new(vec![all.clone()])?,
        settings,
        rho: settings.outer.rho.last(settings.outer.iterations),
        fold: folds(&all),
    };
    let mut best: Option<Candidate> = None;
    for strength in STRENGTHS {
        let Some(candidate) = judge.candidate(strength, &clients)? else { continue };
        if best.as_ref().is_none_or(|known| candidate.gain.mean > known.gain.mean) {
            best = Some(candidate);
        }
    }
    let Some(Candidate { theta, gain }) = best.filter(|best| best.gain.is_clear()) else {
        return Ok(defended);
    };
    let (clients_loss, rows) = (mean(&clients), all.len());
    let root_loss = clients_loss - gain.mean;
    let mut warnings = defended.warnings;
    warnings.push(Warning::new(
        WarningCode::FellBack,
        format!(
            "no client counts: on the {rows} root rows the best model of the clients has a mean loss of \
             {clients_loss:.3}, while models of parts of the root have {root_loss:.3} on the rows that they have \
             not seen. The root-only model is used instead"
        ),
    ));
    Ok(Defended {
        weights: vec![0.0; round.n_clients()],
        theta,
        termination: Termination::FellBack,
        gap: None,
        warnings,
        ..defended
    })
}

struct Judge<'a> {
    rows: &'a Rows,
    /// The same rows, to fit.
    whole: Root,
    settings: &'a Settings,
    rho: f64,
    /// The fold of each row.
    fold: Vec<usize>,
}

/// A model of the whole root, and by how much models of parts of it are better than the clients' on the other rows.
struct Candidate {
    theta: Vec<f64>,
    gain: Difference,
}

impl Judge<'_> {
    /// `None` where models of parts do not exist, or cannot be clearly better, for the model of the whole is not even on
    /// the rows that it has seen.
    fn candidate(&self, strength: f64, clients: &[f64]) -> Result<Option<Candidate>, Error> {
        let theta = self.model(&self.whole, strength)?;
        if !Difference::of(clients, &losses(self.rows, &theta)).is_clear() {
            return Ok(None);
        }
        let unseen = self.unseen_losses(strength)?;
        Ok(unseen.map(|unseen| Candidate { theta, gain: Difference::of(clients, &unseen) }))
    }

    /// The loss of each row under a model of the rows of other folds.
    fn unseen_losses(&self, strength: f64) -> Result<Option<Vec<f64>>, Error> {
        let mut unseen = vec![0.0; self.rows.len()];
        for fold in 0..FOLDS {
            let numbers = |inside: bool| -> Vec<usize> {
                (0..self.rows.len()).filter(|&i| (self.fold[i] == fold) == inside).collect()
            };
            let root = match Root::new(vec![self.rows.select(&numbers(false))]) {
                Ok(root) if root.check(self.settings.fairness).is_ok() => root,
                _ => return Ok(None),
            };
            let theta = self.model(&root, strength)?;
            let left_out = numbers(true);
            let found = losses(&self.rows.select(&left_out), &theta);
            left_out.iter().zip(found).for_each(|(&i, loss)| unseen[i] = loss);
        }
        Ok(Some(unseen))
    }

    /// The minimiser of mean loss, penalty and regulariser on some root, by Newton's method.
    fn model(&self, root: &Root, strength: f64) -> Result<Vec<f64>, Error> {
        let n = self.rows.layout().n();
        let objective = OuterObjective {
            root,
            fairness: self.settings.fairness,
            weighting: RootWeighting::Pooled,
            ridge: strength / root.n_rows(),
        };
        let mut theta = vec![0.0; n];
        let mut here = objective.evaluate(&theta, &[1.0], self.rho)?;
        for _ in 0..MAX_STEPS {
            if norm(&here.gradient_theta) <= TOLERANCE {
                break;
            }
            let factor =
                Cholesky::new(&objective.lower_hessian(&theta, &[1.0], self.rho)?, n, 0.0)?;
            let step = factor.solve(&here.gradient_theta);
            let slope = dot(&step, &here.gradient_theta);
            let mut length = 1.0;
            let next = loop {
                let moved: Vec<f64> =
                    theta.iter().zip(&step).map(|(t, s)| t - length * s).collect();
                let there = objective.evaluate(&moved, &[1.0], self.rho)?;
                if there.value <= here.value - 1e-4 * length * slope {
                    break Some((moved, there));
                }
                length *= 0.5;
                if length < SHORTEST {
                    break None;
                }
            };
            // No step descends: rounding is all that is left.
            let Some(next) = next else { break };
            (theta, here) = next;
        }
        Ok(theta)
    }
}

/// By how much the loss of rows is lower under the second model.
#[derive(Debug, Clone, Copy)]
struct Difference {
    mean: f64,
    standard_error: f64,
}

impl Difference {
    fn of(first: &[f64], second: &[f64]) -> Self {
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let (n, mean) = (differences.len() as f64, mean(&differences));
        let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1.0);
        Self { mean, standard_error: (variance / n).sqrt() }
    }

    fn is_clear(&self) -> bool {
        self.mean > CLEARLY * self.standard_error
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The loss of each row.
fn losses(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    (0..rows.len()).map(|i| loss(rows.labels()[i] * dot(rows.a(i), theta))).collect()
}

/// Rows of one group and label go to the folds in turn, so that each fold has its share of all of them.
fn folds(rows: &Rows) -> Vec<usize> {
    let mut seen = [[0; 2]; 2];
    let fold = |i: usize| {
        let count: &mut usize =
            &mut seen[usize::from(rows.is_privileged(i))][usize::from(rows.is_positive(i))];
        *count += 1;
        (*count - 1) % FOLDS
    };
    (0..rows.len()).map(fold).collect()
}

#[cfg(test)]
mod tests;
