//! Attacks: what unreliable clients send instead of a fair proxy. One file each in `attack/`.
//!
//! A new attack needs a file, a variant of [`Attack`], its name below, and its line in [`Attack::forge`].

mod raw_rows;

use equipoise_core::{Fairness, Rows, choices};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::scenario::{Scenario, ScenarioClient};

/// What unreliable clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Send the training rows as they are: the paper's unreliable clients.
    RawRows,
}

choices! { Attack:
    RawRows => "raw-rows", "Training rows as they are: the paper's unreliable clients";
}

/// What attackers have and know.
#[derive(Debug, Clone, Copy)]
pub struct Attackers<'a> {
    /// The scenario: reliable clients with their proxies, and unreliable ones with raw rows for now.
    pub scenario: &'a Scenario,
    /// The fair proxy that each unreliable client would send if it were honest, in the order of those clients.
    pub honest: &'a [Rows],
    /// The fairness that the coordinator requests.
    pub fairness: Fairness,
    /// λ of the models.
    pub lambda: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl Attackers<'_> {
    /// The unreliable clients, each with its honest proxy.
    fn members(&self) -> impl Iterator<Item = (&ScenarioClient, &Rows)> {
        self.scenario.clients.iter().filter(|client| !client.reliable).zip(self.honest)
    }
}

impl Attack {
    /// The scenario under attack. Reliable clients are unchanged; the others send forged proxies.
    pub fn apply(&self, attackers: &Attackers<'_>) -> Result<Scenario, Error> {
        let mut scenario = attackers.scenario.clone();
        let forged = self.forge(attackers)?;
        let unreliable = scenario.clients.iter_mut().filter(|client| !client.reliable);
        unreliable.zip(forged).for_each(|(client, proxy)| client.proxy = proxy);
        Ok(scenario)
    }

    /// The forged proxies, one for each unreliable client.
    fn forge(&self, attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
        match self {
            Self::RawRows => raw_rows::forge(attackers),
        }
    }
}
