//! What an experiment can be told.

use equipoise_core::{Criterion, Defense, Fairness, RhoSchedule, RootWeighting, Settings};
use serde::{Deserialize, Serialize};

use super::cell::{CellKey, Variant};
use crate::dataset::{Dataset, Preprocessing};
use crate::error::Error;
use crate::scenario::{Generator, ScenarioKind, ScenarioSettings};

/// Which constants the method runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Gauss–Newton until stationary.
    Default,
    /// The paper's 2000 Adam steps.
    #[default]
    Paper,
}

/// A grid of scenarios, and how each is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSettings {
    /// Names of datasets.
    pub datasets: Vec<String>,
    /// Fairness criteria; the paper leaves out equal opportunity on Dutch, and so does a grid that has
    /// more than that one combination.
    pub fairness: Vec<Criterion>,
    /// Scenario kinds.
    pub scenarios: Vec<ScenarioKind>,
    /// Shares of unreliable clients.
    pub unreliable: Vec<f64>,
    /// Number of seeds, from 1.
    pub seeds: u64,
    /// What is run on each round.
    pub variants: Vec<Variant>,
    /// Constants of the method.
    pub profile: Profile,
    /// Number of clients.
    pub n_clients: usize,
    /// Share of training rows in the root.
    pub root_share: f64,
    /// Rows of a fair proxy; `None`: as many as the training rows.
    pub proxy_rows: Option<usize>,
    /// How fair proxies are made.
    pub generator: Generator,
    /// How columns become features.
    pub preprocessing: Preprocessing,
    /// λ throughout.
    pub lambda: f64,
    /// How root rows count.
    pub root_weighting: RootWeighting,
}

impl Default for ExperimentSettings {
    /// The paper's grid.
    fn default() -> Self {
        Self {
            datasets: vec!["law-school".to_owned(), "dutch".to_owned()],
            fairness: vec![Criterion::Sp, Criterion::Eo],
            scenarios: vec![ScenarioKind::Realistic, ScenarioKind::Ideal],
            unreliable: vec![0.2, 0.4, 0.6],
            seeds: 5,
            variants: Variant::ALL.to_vec(),
            profile: Profile::Paper,
            n_clients: 5,
            root_share: 0.005,
            proxy_rows: None,
            generator: Generator::Adam,
            preprocessing: Preprocessing::Paper,
            lambda: 1e-4,
            root_weighting: RootWeighting::Pooled,
        }
    }
}

impl ExperimentSettings {
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |name, range, found| Err(Error::Setting { name, range, found });
        if self.seeds == 0 {
            return refuse("seeds", "at least 1", 0.0);
        }
        if self.n_clients < 2 {
            return refuse("clients", "at least 2", self.n_clients as f64);
        }
        if !(self.root_share > 0.0 && self.root_share <= 1.0) {
            return refuse("root-share", "above 0 and at most 1", self.root_share);
        }
        if let Some(&share) = self.unreliable.iter().find(|share| !(0.0..1.0).contains(*share)) {
            return refuse("unreliable", "at least 0 and below 1", share);
        }
        if self.fairness.contains(&Criterion::Both) {
            return refuse("fairness", "sp or eo in an experiment", 0.0);
        }
        self.datasets().map(|_| ())
    }

    /// The datasets, by name.
    pub fn datasets(&self) -> Result<Vec<Dataset>, Error> {
        self.datasets
            .iter()
            .map(|name| {
                Dataset::named(name).ok_or_else(|| Error::UnknownDataset { name: name.clone() })
            })
            .collect()
    }

    /// Dataset and fairness, as the paper combines them.
    pub(super) fn combinations(&self) -> Result<Vec<(Dataset, usize)>, Error> {
        let mut all = Vec::new();
        for dataset in self.datasets()? {
            for (at, &criterion) in self.fairness.iter().enumerate() {
                all.push((dataset, at, dataset.name == "dutch" && criterion == Criterion::Eo));
            }
        }
        let alone = all.len() == 1;
        Ok(all
            .into_iter()
            .filter(|&(_, _, left_out)| alone || !left_out)
            .map(|(dataset, at, _)| (dataset, at))
            .collect())
    }

    /// Every split: dataset, position of the fairness, seed.
    pub(super) fn splits(&self) -> Result<Vec<(Dataset, usize, u64)>, Error> {
        let combinations = self.combinations()?;
        let all = combinations
            .into_iter()
            .flat_map(|(dataset, at)| (1..=self.seeds).map(move |seed| (dataset, at, seed)));
        Ok(all.collect())
    }

    pub(super) fn n_cells(&self) -> Result<usize, Error> {
        Ok(self.splits()?.len() * self.scenarios.len() * self.unreliable.len())
    }

    /// The cells of a split.
    pub(super) fn keys_of(&self, dataset: Dataset, fairness: usize, seed: u64) -> Vec<CellKey> {
        let mut keys = Vec::new();
        for &scenario in &self.scenarios {
            for &unreliable in &self.unreliable {
                keys.push(CellKey {
                    dataset: dataset.name.to_owned(),
                    fairness: self.fairness[fairness],
                    scenario,
                    unreliable,
                    seed,
                });
            }
        }
        keys
    }

    /// How a population is split; kind and share are chosen later.
    pub(super) fn scenario(&self, fairness: usize, seed: u64) -> ScenarioSettings {
        ScenarioSettings {
            n_clients: self.n_clients,
            root_share: self.root_share,
            proxy_rows: self.proxy_rows,
            generator: self.generator,
            lambda: self.lambda,
            ..ScenarioSettings::new(
                ScenarioKind::Realistic,
                fairness_of(self.fairness[fairness]),
                0.0,
                seed,
            )
        }
    }

    /// The settings of a solve.
    pub(super) fn solve(&self, criterion: Criterion, variant: Variant) -> Settings {
        let fairness = fairness_of(criterion);
        let mut settings = match self.profile {
            Profile::Default => Settings::new(fairness),
            Profile::Paper => Settings::paper(fairness),
        };
        settings.lambda = self.lambda;
        settings.root_weighting = self.root_weighting;
        (settings.defense, settings.outer.rho) = match variant {
            Variant::Defense(defense) => (defense, settings.outer.rho),
            Variant::BilevelWithoutPenalty => (Defense::Bilevel, RhoSchedule::off()),
        };
        settings
    }
}

/// The fairness that a criterion of the grid stands for.
pub(super) fn fairness_of(criterion: Criterion) -> Fairness {
    match criterion {
        Criterion::Eo => Fairness::EO,
        Criterion::Sp | Criterion::Both => Fairness::SP,
    }
}
