//! Read this first: from a round to an outcome.
//!
//! 1. The settings were checked by [`Settings::validate`](crate::Settings::validate), the rows by
//!    [`Round`]; what is left is whether the root can speak about the fairness that is asked for.
//! 2. The defense turns proxies and root into weights and a model. For the method itself, see
//!    `outer`: fit the model at these weights (`inner_fit`), measure it on the root (`root`),
//!    differentiate (`hypergradient`), step, project (`simplex`), until done.
//! 3. Whatever the defense, its model is measured on the root by the same objective.

use crate::bilevel::Bilevel;
use crate::defense::Defense;
use crate::error::Error;
use crate::inner_fit::{InnerSettings, ridge};
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::outcome::{ClientOutcome, Outcome, Termination};
use crate::root::{OuterObjective, RootWeighting};
use crate::round::Round;
use crate::settings::CheckedSettings;
use crate::warning::{Warning, WarningCode};

/// Defends a round. The same round and settings give the same outcome, bit for bit, whatever the number
/// of threads.
pub fn solve(
    round: &Round,
    settings: &CheckedSettings,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    round.root().check(settings.fairness)?;

    // On a thread of the pool, thousands of short passes are shared out without a hand-over each.
    let defended = rayon::scope(|_| settings.defense.run(round, settings, observer))?;

    let rho = settings.outer.rho.last(settings.outer.iterations);
    // The model is measured on the root as it is. Only the objective of a method that weighted the root
    // rows is the one that it minimised.
    let pooled = OuterObjective {
        root: round.root(),
        fairness: settings.fairness,
        weighting: RootWeighting::Pooled,
        ridge: ridge(settings.lambda, round.proxies().n()),
    };
    let measured = pooled.evaluate(&defended.theta, &defended.weights, rho)?;
    let objective = match settings.defense {
        Defense::Bilevel if defended.gap.is_some() => {
            let minimised = OuterObjective { weighting: settings.root_weighting, ..pooled };
            minimised.evaluate(&defended.theta, &defended.weights, rho)?.value
        }
        _ => measured.value,
    };
    let mut warnings = defended.counts.warnings();
    warnings.extend(defended.warnings);
    if let (Termination::IterationLimit, Some(gap)) = (defended.termination, defended.gap) {
        warnings.push(Warning::new(
            WarningCode::NotStationary,
            format!("the weights are not stationary: the gap is {gap:.1e} of the objective"),
        ));
    }
    let clients = defended.weights.iter().enumerate().map(|(c, &weight)| ClientOutcome {
        id: round.client_ids()[c].clone(),
        proxy_rows: round.proxies().n_rows(c),
        root_rows: round.root().rows().clients()[c].len(),
        weight,
    });
    Ok(Outcome {
        clients: clients.collect(),
        objective,
        root_loss: measured.loss,
        rho,
        violation: measured.violation.size(settings.fairness),
        violations: measured.violation,
        root_metrics: Metrics::of(&defended.theta, &round.root().all_rows()?)?,
        theta: defended.theta,
        termination: defended.termination,
        gap: defended.gap,
        counts: defended.counts,
        trace: defended.trace,
        warnings,
        settings: **settings,
    })
}

/// Inner tolerance of [`objective_at`]: where the arithmetic ends.
const TIGHT: f64 = 1e-13;

/// `P` at the last ρ of the settings, at any weights on the simplex: what weights of different solvers are compared by.
/// The model is fitted by Newton's method as tightly as the arithmetic allows, whatever the settings say of the inner
/// fit; under a large ρ, an [`Outcome::objective`] measured at a looser model may be off by far more than the last digits.
pub fn objective_at(
    round: &Round,
    settings: &CheckedSettings,
    weights: &[f64],
) -> Result<f64, Error> {
    round.root().check(settings.fairness)?;
    if weights.len() != round.n_clients() {
        return Err(Error::Clients { expected: round.n_clients(), found: weights.len() });
    }
    let mut tight = **settings;
    tight.inner = InnerSettings { tolerance: TIGHT, ..InnerSettings::default() };
    let rho = settings.outer.rho.last(settings.outer.iterations);
    Ok(Bilevel::new(round, &tight).evaluate(weights, rho)?.objective)
}

#[cfg(test)]
mod tests;
