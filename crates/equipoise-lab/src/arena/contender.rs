//! Contenders: the core's defenses, the rivals, and a reference that nobody knows in practice.

use equipoise_core::{
    Choice, Defense, Fairness, NoopObserver, Round, Settings, TrustSummary, choices, solve,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::rival::{Rival, RivalInput};
use crate::scenario::Scenario;

/// A method that turns the proxies and the root into a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contender {
    /// A defense of the core.
    Defense(Defense),
    /// A published method.
    Rival(Rival),
    /// A yardstick, which is not ranked.
    Reference(Reference),
}

/// A yardstick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// The plain average of the models of the clients that are truly reliable.
    ReliableMean,
}

choices! { Reference:
    ReliableMean => "reliable-mean", "Plain average of the reliable clients' models, unknown in practice";
}

/// Number of contenders: every defense and every rival.
const N_CONTENDERS: usize = Defense::ALL.len() + Rival::ALL.len();

impl Choice for Contender {
    /// The contenders that are ranked: the defenses, then the rivals.
    const ALL: &'static [Self] = &{
        let mut all = [Self::Reference(Reference::ReliableMean); N_CONTENDERS];
        let mut i = 0;
        while i < N_CONTENDERS {
            all[i] = match i < Defense::ALL.len() {
                true => Self::Defense(Defense::ALL[i]),
                false => Self::Rival(Rival::ALL[i - Defense::ALL.len()]),
            };
            i += 1;
        }
        all
    };

    fn describe(&self) -> (&'static str, &'static str) {
        match self {
            Self::Defense(defense) => defense.describe(),
            Self::Rival(rival) => rival.describe(),
            Self::Reference(reference) => reference.describe(),
        }
    }
}

impl Contender {
    /// The defense that `equipoise defend` runs by default.
    pub const DEFAULT: Self = Self::Defense(Defense::Trust);
    /// All proxies together: what happens without a defense.
    pub const POOLED: Self = Self::Defense(Defense::Pooled);
    /// The average of the truly reliable clients' models.
    pub const RELIABLE_MEAN: Self = Self::Reference(Reference::ReliableMean);

    /// The contender's model for a round.
    pub(super) fn run(&self, contest: &Contest<'_>) -> Result<Entry, Error> {
        let entry = match self {
            Self::Defense(defense) => contest.run_defense(*defense)?,
            Self::Rival(rival) => {
                let model = rival.run(&contest.input)?;
                Entry { theta: model.theta, weights: model.weights, trust: None }
            }
            Self::Reference(Reference::ReliableMean) => contest.reliable_mean()?,
        };
        let numbers = entry.theta.iter().chain(entry.weights.iter().flatten());
        match numbers.copied().all(f64::is_finite) {
            true => Ok(entry),
            false => Err(Error::NotFinite),
        }
    }
}

/// A round as the contenders see it, with a model of each proxy.
pub(super) struct Contest<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) round: Round,
    pub(super) input: RivalInput<'a>,
}

/// A contender's model.
pub(super) struct Entry {
    pub(super) theta: Vec<f64>,
    /// `None` if the model is not a weighted combination of clients.
    pub(super) weights: Option<Vec<f64>>,
    /// What the defense `trust` says about its decision.
    pub(super) trust: Option<TrustSummary>,
}

impl<'a> Contest<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        fairness: Fairness,
        lambda: f64,
    ) -> Result<Self, Error> {
        let input = RivalInput::new(scenario, fairness, lambda)?;
        Ok(Self { scenario, round: scenario.round()?, input })
    }

    fn run_defense(&self, defense: Defense) -> Result<Entry, Error> {
        let RivalInput { fairness, lambda, .. } = self.input;
        let settings = Settings { defense, lambda, ..Settings::new(fairness) };
        let outcome = solve(&self.round, &settings.validate()?, &mut NoopObserver)?;
        let weights = outcome.uses_proxies().then(|| outcome.weights());
        Ok(Entry { theta: outcome.theta, weights, trust: outcome.trust })
    }

    fn reliable_mean(&self) -> Result<Entry, Error> {
        let reliable: Vec<bool> = self.scenario.clients.iter().map(|c| c.reliable).collect();
        let n = reliable.iter().filter(|reliable| **reliable).count();
        if n == 0 {
            return Err(Error::NoReliableClient);
        }
        let weight = |reliable: &bool| if *reliable { 1.0 / n as f64 } else { 0.0 };
        let weights: Vec<f64> = reliable.iter().map(weight).collect();
        Ok(Entry {
            theta: weighted_mean(&self.input.models, &weights),
            weights: Some(weights),
            trust: None,
        })
    }
}

/// `Σ w_c θ_c`.
fn weighted_mean(models: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut theta = vec![0.0; models[0].len()];
    for (model, weight) in models.iter().zip(weights) {
        theta.iter_mut().zip(model).for_each(|(sum, t)| *sum += weight * t);
    }
    theta
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let all: Vec<Contender> =
            Contender::ALL.iter().copied().chain([Contender::RELIABLE_MEAN]).collect();
        for (i, contender) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other.name() != contender.name()), "{contender:?}");
            let json = serde_json::to_string(contender).unwrap();
            assert_eq!(json, format!("\"{}\"", contender.name()));
            assert_eq!(serde_json::from_str::<Contender>(&json).unwrap(), *contender);
        }
        assert!(Contender::ALL.contains(&Contender::DEFAULT));
        assert!(Contender::ALL.contains(&Contender::POOLED));
    }

    #[test]
    fn the_mean_of_models_is_weighted() {
        let models = [vec![1.0, 0.0], vec![3.0, 8.0], vec![100.0, 100.0]];
        assert_eq!(weighted_mean(&models, &[0.5, 0.5, 0.0]), [2.0, 4.0]);
    }
}
