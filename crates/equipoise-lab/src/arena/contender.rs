//! Contenders: the core's defenses, the rivals, and references that nobody knows in practice.

use equipoise_core::{Choice, Defense, Fairness, NoopObserver, Round, Settings, solve};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::experiment::{Reference, reliable_mean};
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
    /// A model that no server could compute. It is not ranked.
    Reference(Reference),
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
    pub const DEFAULT: Self = Self::Defense(Defense::Tilt);
    /// All proxies together: what happens without a defense.
    pub const POOLED: Self = Self::Defense(Defense::Pooled);
    /// The mean of the models of the clients that are truly reliable, or of all if none is.
    pub const RELIABLE_MEAN: Self = Self::Reference(Reference::ReliableMean);

    /// All references.
    pub const REFERENCES: [Self; 2] =
        [Self::RELIABLE_MEAN, Self::Reference(Reference::CentralFair)];

    /// The contender's model for a round.
    pub(super) fn run(&self, contest: &Contest<'_>) -> Result<Entry, Error> {
        let entry = match self {
            Self::Defense(defense) => contest.run_defense(*defense)?,
            Self::Rival(rival) => {
                let model = rival.run(&contest.input)?;
                Entry { theta: model.theta, weights: model.weights, decided: None }
            }
            Self::Reference(reference) => contest.reference(*reference),
        };
        let numbers = entry.theta.iter().chain(entry.weights.iter().flatten());
        match numbers.copied().all(f64::is_finite) {
            true => Ok(entry),
            false => Err(Error::NotFinite),
        }
    }
}

/// A round as the contenders see it, with a model of each proxy, and what only we know.
pub(super) struct Contest<'a> {
    pub(super) scenario: &'a Scenario,
    /// A fair model of all clients' raw rows.
    pub(super) central: &'a [f64],
    pub(super) round: Round,
    pub(super) input: RivalInput<'a>,
}

/// A contender's model.
pub(super) struct Entry {
    pub(super) theta: Vec<f64>,
    /// `None` if the model is not a weighted combination of clients.
    pub(super) weights: Option<Vec<f64>>,
    /// Whether the defense could tell which clients are reliable, if it says so.
    pub(super) decided: Option<bool>,
}

impl<'a> Contest<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        central: &'a [f64],
        fairness: Fairness,
        lambda: f64,
    ) -> Result<Self, Error> {
        let input = RivalInput::new(scenario, fairness, lambda)?;
        Ok(Self { scenario, central, round: scenario.round()?, input })
    }

    fn run_defense(&self, defense: Defense) -> Result<Entry, Error> {
        let RivalInput { fairness, lambda, .. } = self.input;
        let settings = Settings { defense, lambda, ..Settings::new(fairness) };
        let outcome = solve(&self.round, &settings.validate()?, &mut NoopObserver)?;
        let weights = outcome.uses_proxies().then(|| outcome.weights());
        let decided = outcome.could_tell();
        Ok(Entry { theta: outcome.theta, weights, decided })
    }

    fn reference(&self, reference: Reference) -> Entry {
        let theta = match reference {
            Reference::ReliableMean => reliable_mean(self.scenario, &self.input.models),
            Reference::CentralFair => self.central.to_vec(),
        };
        Entry { theta, weights: None, decided: None }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        let all: Vec<Contender> =
            Contender::ALL.iter().copied().chain(Contender::REFERENCES).collect();
        for (i, contender) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other.name() != contender.name()), "{contender:?}");
            let json = serde_json::to_string(contender).unwrap();
            assert_eq!(json, format!("\"{}\"", contender.name()));
            assert_eq!(serde_json::from_str::<Contender>(&json).unwrap(), *contender);
        }
        assert_eq!(Contender::DEFAULT, Contender::Defense(Defense::default()));
        assert!(Contender::ALL.contains(&Contender::DEFAULT));
        assert!(Contender::ALL.contains(&Contender::POOLED));
    }
}
